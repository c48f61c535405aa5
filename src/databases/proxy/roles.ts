// The logins that the proxy knows: looked up in the state, kept for a moment.
import { LRUCache } from 'lru-cache'
import type { HeldFor } from '#resources/resource.ts'
import { OWNER_LABEL } from '#databases/logins/owner-label.ts'
import type { Queryable } from '#state/connect.ts'
import { parseVerifier, type Verifier } from '#databases/logins/scram.ts'

export type Role = {
  readonly name: string
  /** The role in the server: logins that write are the owner, so that the tables of one belong to all. */
  readonly serverRole: string
  readonly verifier: Verifier
  readonly database: string
  readonly account: string
  readonly databaseName: string
  /** The state of the database, and the state that it should have. */
  readonly actual: string
  readonly wanted: string
  readonly held: HeldFor
  /** Why the states differ, where that is known. */
  readonly reason: string | null
}

// A rotated password is refused after this time at the latest.
const KEPT_MS = 1000
const CACHE_MAX = 10_000
/** PostgreSQL's longest identifier. */
const NAME_BYTES_MAX = 63

export function createRoles(state: Queryable): (name: string) => Promise<Role | undefined> {
  const found = new LRUCache<string, { readonly role: Role | undefined }>({
    max: CACHE_MAX,
    ttl: KEPT_MS,
  })
  return async (name) => {
    if (Buffer.byteLength(name) > NAME_BYTES_MAX) return undefined
    const known = found.get(name)
    if (known !== undefined) return known.role
    const { rows } = await state.query<Omit<Role, 'verifier'> & { verifier: string }>(
      `select r.name, case when r.is_read_only then r.name else o.name end as "serverRole", r.verifier,
         r.database, n.account, n.name as "databaseName", n.actual, n.wanted, n.held, n.reason
       from database_roles r join resources n on n.id = r.database
         join database_roles o on o.database = r.database and o.label = $2
       where r.name = $1 and n.desired <> 'deleted'`,
      [name, OWNER_LABEL],
    )
    const [row] = rows
    const role = row && { ...row, verifier: parseVerifier(row.verifier) }
    found.set(name, { role })
    return role
  }
}
