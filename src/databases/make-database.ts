// The database and the role of its owner, in a server that runs.
import { invariant } from '#base/errors.ts'
import type { State } from '#state/connect.ts'

const IDENTIFIER = /^[a-z][a-z0-9_-]{0,62}$/

function quoted(name: string): string {
  invariant(IDENTIFIER.test(name), `A name that needs no escape: ${name}`)
  return `"${name}"`
}

/**
 * Makes what is absent. `connect` opens a database of the server as its superuser. The service owns the database, so
 * that the role of the customer can neither drop it nor lift its limits.
 */
export async function makeDatabase(
  connect: (database: string) => State,
  { name, role }: { readonly name: string; readonly role: string },
): Promise<void> {
  const [database, owner] = [quoted(name), quoted(role)]
  await using server = connect('postgres')
  const isThere = async (table: string, column: string, value: string) =>
    (await server.query(`select from ${table} where ${column} = $1`, [value])).rowCount > 0
  if (!(await isThere('pg_roles', 'rolname', role)))
    await server.query(`create role ${owner} login nocreatedb nocreaterole noreplication`)
  if (!(await isThere('pg_database', 'datname', name)))
    await server.query(`create database ${database}`)
  await server.query(`revoke all on database ${database} from public`)
  await server.query('revoke connect on database postgres, template1 from public')
  await server.query(`grant connect, create, temporary on database ${database} to ${owner}`)
  await using own = connect(name)
  await own.query(`alter schema public owner to ${owner}`)
}
