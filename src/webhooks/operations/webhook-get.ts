// GET /v1/webhooks and /v1/webhooks/{id}.
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { findWebhook, webhookReplyOf, webhooksOf } from '#webhooks/find-webhook.ts'
import { callerOf } from '#identity/principal.ts'

type Deps = { readonly state: Queryable }

export const createWebhookList =
  ({ state }: Deps): Handler =>
  async ({ caller }) => {
    const data = (await webhooksOf(state, callerOf({ caller }).account)).map((row) =>
      webhookReplyOf(row),
    )
    const reply = { object: 'list', data, has_more: false, next_cursor: null }
    return { kind: 'known', status: 200, body: () => reply }
  }

export const createWebhookGet =
  ({ state }: Deps): Handler =>
  async ({ caller, parameters }) => {
    const row = await findWebhook(state, callerOf({ caller }).account, parameters['webhook'] ?? '')
    return { kind: 'known', status: 200, body: () => webhookReplyOf(row) }
  }
