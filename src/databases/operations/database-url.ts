// GET /v1/databases/{id or name}/url: the connection string of a database.
import { fault } from '#contract/errors.ts'
import { OWNER_LABEL } from '#databases/logins/owner-label.ts'
import { findRole } from '#databases/logins/find-role.ts'
import { findCertificate } from '#databases/certificate/find-certificate.ts'
import { SHOWN_DATABASES } from '#databases/find-database.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { passwordOf } from '#databases/logins/passwords.ts'
import type { Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import type { Queryable } from '#state/connect.ts'

/** The connection string of a role, with the password. */
export function connectionUrl(
  { passwordKey, host, port }: GatewaySettings,
  database: string,
  role: { readonly name: string; readonly revision: number },
): string {
  const password = passwordOf(passwordKey, role.name, role.revision)
  return `postgresql://${role.name}:${password}@${host}:${port}/${database}?sslmode=require`
}

export const createDatabaseUrl =
  ({
    state,
    settings,
  }: {
    readonly state: Queryable
    readonly settings: GatewaySettings
  }): Handler =>
  async (call) => {
    const row = await askedResource(SHOWN_DATABASES, state, call)
    if (!settings.isOn) throw fault('databases_off', `Could not connect to "${row.name}"`)
    const role = await findRole(state, row.id, call.query().get('role') ?? OWNER_LABEL)
    const certificate = await findCertificate(state, settings.host)
    const url = connectionUrl(settings, row.name, role)
    return {
      kind: 'known',
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      body: () => ({ url, ...certificate }),
    }
  }
