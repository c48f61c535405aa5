// GET /v1/databases, /v1/databases/{id or name}, and its connection string.
import { fault } from '#contract/errors.ts'
import { OWNER_LABEL } from '#databases/logins/owner-label.ts'
import { findRole } from '#databases/operations/find-role.ts'
import { findCertificate } from '#databases/operations/find-certificate.ts'
import { databasesOf, findDatabase, replyOf } from '#databases/operations/find-database.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { passwordOf } from '#databases/logins/passwords.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

type Deps = { readonly state: Queryable; readonly settings: GatewaySettings }

export const createDatabaseList =
  ({ state, settings }: Deps): Handler =>
  async ({ who }) => {
    const rows = await databasesOf(state, callerOf(who).account)
    const data = rows.map((row) => replyOf(row, settings))
    const reply = { object: 'list', data, has_more: false, next_cursor: null }
    return { kind: 'known', status: 200, body: () => reply }
  }

export const createDatabaseGet =
  ({ state, settings }: Deps): Handler =>
  async ({ who, parameters }) => {
    const row = await findDatabase(state, callerOf(who).account, parameters['database'] ?? '')
    const reply = replyOf(row, settings)
    return { kind: 'known', status: 200, body: () => reply }
  }

/** With the password. */
export function connectionUrl(
  { passwordKey, host, port }: GatewaySettings,
  database: string,
  role: { readonly name: string; readonly revision: number },
): string {
  const password = passwordOf(passwordKey, role.name, role.revision)
  return `postgresql://${role.name}:${password}@${host}:${port}/${database}?sslmode=require`
}

export const createDatabaseUrl =
  ({ state, settings }: Deps): Handler =>
  async ({ who, parameters, query }) => {
    const row = await findDatabase(state, callerOf(who).account, parameters['database'] ?? '')
    if (!settings.isOn) throw fault('databases_off', `Could not connect to "${row.name}"`)
    const role = await findRole(state, row.id, query().get('role') ?? OWNER_LABEL)
    const certificate = await findCertificate(state, settings.host)
    const url = connectionUrl(settings, row.name, role)
    return {
      kind: 'known',
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      body: () => ({ url, ...certificate }),
    }
  }
