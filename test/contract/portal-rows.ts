// Calls of the operations of the portal, for the matrix: those that need a session or open one are refused at the API.
// Their honest calls are in test/portal/.
import type { Row } from './matrix-row.ts'

const at = (path: string): Row => ({ path: () => path })

export const PORTAL_ROWS: Readonly<Record<string, Row>> = {
  'sign-up.begin': at('/v1/sign-up/options'),
  'sign-up.finish': at('/v1/sign-up'),
  'sign-in.begin': at('/v1/sign-in/options'),
  'sign-in.finish': at('/v1/sign-in'),
  'session.recover': at('/v1/session/recover'),
  'session.get': at('/v1/session'),
  'session.end': at('/v1/session'),
  'session.touch-begin': at('/v1/session/touch/options'),
  'session.touch': at('/v1/session/touch'),
  'session.list': at('/v1/sessions'),
  'session.remove': at('/v1/sessions/none'),
  'passkey.list': at('/v1/passkeys'),
  'passkey.begin': at('/v1/passkeys/options'),
  'passkey.add': at('/v1/passkeys'),
  'passkey.rename': at('/v1/passkeys/none'),
  'passkey.remove': at('/v1/passkeys/none'),
  'recovery-codes.renew': at('/v1/recovery-codes'),
  'device-approval.create': at('/v1/device-approvals'),
  'login.get': at('/v1/logins/none'),
  'login.approve': at('/v1/logins/none/approve'),
  'login.begin': {
    path: () => '/v1/logins',
    body: { name: 'laptop', code_challenge: 'c'.repeat(43) },
    statuses: [201],
  },
  'login.finish': {
    path: () => '/v1/logins/none/token',
    body: { code_verifier: 'v'.repeat(43) },
    // Nobody has begun it.
    statuses: [404],
  },
}
