// GET /v1/sessions: those of the member that asks.
import type { SessionList } from '#contract/portal/portal.ts'
import { known, type Handler } from '#http/reply.ts'
import { sessionsOf } from '#identity/browser-sessions.ts'
import { callerOf } from '#identity/principal.ts'
import type { PortalParts } from '#portal/parts.ts'

export const createSessionList =
  ({ state }: PortalParts): Handler =>
  async ({ caller }) => {
    const { member, token } = callerOf({ caller })
    const rows = await sessionsOf(state, member)
    return known({
      object: 'list',
      data: rows.map(({ id, client, ...times }) => ({
        id,
        object: 'browser_session',
        client,
        current: id === token,
        created_at: times.created_at.toISOString(),
        expires_at: times.expires_at.toISOString(),
        ends_at: times.ends_at.toISOString(),
      })),
    } satisfies SessionList)
  }
