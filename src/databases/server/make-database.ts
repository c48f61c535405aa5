// The database and its roles, in a server that runs.
import { invariant } from '#base/errors.ts'
import type { State } from '#state/connect.ts'

export type DatabaseRoles = {
  readonly owner: string
  /** Roles that read the owner's data. */
  readonly readers: readonly string[]
  /** The owner asked for the newest versions of the extensions. */
  readonly wantsUpgrade: boolean
}

/**
 * PostgreSQL lets each role make and fill large objects, which only the role itself can remove, and write messages into
 * the log, which are stored with the backups.
 */
const OPEN_WRITES = [
  'lo_creat(integer)',
  'lo_create(oid)',
  'lo_from_bytea(oid, bytea)',
  'lo_put(oid, bigint, bytea)',
  'lo_truncate(integer, integer)',
  'lo_truncate64(integer, bigint)',
  'lowrite(integer, bytea)',
  'pg_logical_emit_message(boolean, text, text)',
  'pg_logical_emit_message(boolean, text, bytea)',
]
  .map((name) => `pg_catalog.${name}`)
  .join(', ')

const IDENTIFIER = /^[a-z][a-z0-9_-]{0,62}$/

function quoted(name: string): string {
  invariant(IDENTIFIER.test(name), `A name that needs no escape: ${name}`)
  return `"${name}"`
}

/** Opens a database of the server as its superuser, or as a role. */
export type ConnectAs = (database: string, role?: string) => State

/**
 * Makes the absent roles and databases, and removes unwanted roles. The service owns the database itself, so that no role of the customer can drop it or lift its limits.
 */
export async function makeDatabase(
  connect: ConnectAs,
  { name, owner, readers, wantsUpgrade }: DatabaseRoles & { readonly name: string },
): Promise<void> {
  const database = quoted(name)
  await using server = connect('postgres')
  const { rows } = await server.query<{ rolname: string }>(
    "select rolname from pg_roles where rolname <> current_user and rolname not like 'pg\\_%'",
  )
  const there = rows.map(({ rolname }) => rolname)
  for (const role of [owner, ...readers].filter((wanted) => !there.includes(wanted)))
    await server.query(`create role ${quoted(role)} login nocreatedb nocreaterole noreplication`)
  const found = await server.query('select from pg_database where datname = $1', [name])
  if (found.rowCount === 0) await server.query(`create database ${database}`)
  await server.query(`revoke all on database ${database} from public`)
  await server.query('revoke connect on database postgres, template1 from public')
  await server.query(`grant connect, create, temporary on database ${database} to ${quoted(owner)}`)
  await using own = connect(name)
  // Only that of a new database: the owner may have dropped it.
  const { rowCount: isNew } = await own.query(
    "select from pg_namespace where nspname = 'public' and nspowner = 'pg_database_owner'::regrole",
  )
  if (isNew > 0) await own.query(`alter schema public owner to ${quoted(owner)}`)
  await own.query(`revoke execute on function ${OPEN_WRITES} from public`)
  await own.query(`grant execute on function ${OPEN_WRITES} to ${quoted(owner)}`)
  for (const reader of readers) await letRead(own, { database, owner, reader })
  for (const role of there.filter((one) => one !== owner && !readers.includes(one)))
    await removeRole(own, { owner, role })
  if (!wantsUpgrade) return
  await using asOwner = connect(name, owner)
  await upgradeExtensions(asOwner)
}

/**
 * The session is the owner's, who created them: PostgreSQL gives the scripts of trusted ones the rights that they need.
 * Code of the owner has no more rights there than in an update of their own.
 */
const upgradeExtensions = (own: State): Promise<void> =>
  own.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ name: string }>(
      `select quote_ident(name) as name from pg_available_extensions
       where installed_version <> default_version and default_version <> 'absent'`,
    )
    for (const { name } of rows) await transaction.query(`alter extension ${name} update`)
  })

/** Grants a role to read the present and later data of the owner. */
async function letRead(
  own: State,
  { database, owner, reader }: { database: string; owner: string; reader: string },
): Promise<void> {
  const [from, to] = [quoted(owner), quoted(reader)]
  await own.query(`grant connect on database ${database} to ${to}`)
  for (const kind of ['usage on schemas', 'select on tables', 'select on sequences'])
    await own.query(`alter default privileges for role ${from} grant ${kind} to ${to}`)
  const { rows } = await own.query<{ schema: string }>(
    'select quote_ident(nspname) as schema from pg_namespace where nspowner = $1::regrole',
    [from],
  )
  for (const { schema } of rows) {
    await own.query(`grant usage on schema ${schema} to ${to}`)
    await own.query(`grant select on all tables in schema ${schema} to ${to}`)
    await own.query(`grant select on all sequences in schema ${schema} to ${to}`)
  }
}

async function removeRole(
  own: State,
  { owner, role }: { owner: string; role: string },
): Promise<void> {
  await own.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [
    role,
  ])
  await own.query(`reassign owned by ${quoted(role)} to ${quoted(owner)}`)
  await own.query(`drop owned by ${quoted(role)}`)
  await own.query(`drop role ${quoted(role)}`)
}
