// Clients of a database for tests, by its connection string; the certificate is the node's own.
import assert from 'node:assert/strict'
import pg from 'pg'
import { createRests } from '../rests.ts'
import type { Ergon } from '../start-ergon.ts'

const WAIT_MS = 240_000

export async function connectTo(
  url: URL,
  given: Partial<pg.ClientConfig> = {},
): Promise<pg.Client> {
  const client = new pg.Client({
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: url.password,
    database: url.pathname.slice(1),
    ssl: { rejectUnauthorized: false },
    enableChannelBinding: true,
    ...given,
  })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

export async function withClient<T>(
  url: URL,
  work: (client: pg.Client) => Promise<T>,
  given: Partial<pg.ClientConfig> = {},
): Promise<T> {
  const client = await connectTo(url, given)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The connection string of a role. */
export const urlOfRole = async (ergon: Ergon, name: string, role: string): Promise<URL> =>
  new URL((await ergon.cli('db', 'url', name, '--role', role)).stdout.trim())

/** Makes a database, and returns its connection string. */
export async function makeDatabase(ergon: Ergon, name: string, ...flags: string[]): Promise<URL> {
  const made = await ergon.cli('db', 'create', name, ...flags)
  assert.equal(made.code, 0, made.stderr)
  return new URL((await ergon.cli('db', 'url', name)).stdout.trim())
}

/** The error that ends a client's session. */
export const endOf = (client: pg.Client): Promise<Error & { readonly code?: string }> =>
  new Promise((resolve) => client.once('error', resolve))

export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  waitMs = WAIT_MS,
): Promise<void> {
  const lastMs = performance.now() + waitMs
  const rest = createRests()
  while (!(await holds())) {
    assert.ok(performance.now() < lastMs, what)
    await rest()
  }
}

/**
 * Has the nightly backup of a database made now, and returns its id. Else the service makes that at any minute, and wakes
 * the database.
 */
export async function backUpNightly(ergon: Ergon, database: string): Promise<string> {
  const [asked] = await ergon.sql<{ id: string }>("select want_backup($1, 'nightly') as id", [
    database,
  ])
  const id = asked?.id ?? assert.fail()
  await until('the nightly backup is done', () => isBackupDone(ergon, id))
  return id
}

/** Says whether a backup is done. Throws the reason of a failed backup. */
export async function isBackupDone(ergon: Ergon, id: string): Promise<boolean> {
  const [row] = await ergon.sql<{ status: string; reason: string | null }>(
    'select status, reason from database_backups where id = $1',
    [id],
  )
  assert.notEqual(row?.status, 'failed', row?.reason ?? '')
  return row?.status === 'done'
}
