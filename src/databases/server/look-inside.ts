// The versions of PostgreSQL and of the extensions of a database. They are written down while its server runs, so that
// an answer wakes no server.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { DatabaseReply } from '#contract/databases/databases.ts'
import type { PostgresInstall } from '#postgres/install.ts'
import type { Queryable, State } from '#state/connect.ts'

export type Installed = {
  readonly postgres: string
  /** The pgvector that the machine has, whether it is created here or not. */
  readonly vector: string | null
  readonly extensions: DatabaseReply['extensions']
}

type Server = {
  readonly id: string
  readonly name: string
  readonly install: PostgresInstall
  readonly connect: (database: string) => State
}

/** After the first clients of a start, and then again and again. */
const FIRST_MS = 2000
const AGAIN_MS = 60_000

/** Records what is there until the signal aborts. Never rejects. */
export async function lookInside(
  { state, log }: { readonly state: Queryable; readonly log: Logger },
  { id, name, install, connect }: Server,
  signal: AbortSignal,
): Promise<void> {
  const look = async () => {
    await using database = connect(name)
    await recordInstalled(state, id, await installedIn(database, install))
  }
  for (let restMs = FIRST_MS; !signal.aborted; restMs = AGAIN_MS) {
    await sleep(restMs, signal).catch(() => undefined)
    if (signal.aborted) return
    await look().catch((error: unknown) => {
      log.debug('A database was not looked into', { id, error: messageOf(error) })
    })
  }
}

/** Asks a database of a server that runs this install. */
export async function installedIn(
  database: Queryable,
  { version, vectorVersion }: Pick<PostgresInstall, 'version' | 'vectorVersion'>,
): Promise<Installed> {
  const { rows } = await database.query<Installed['extensions'][number]>(
    'select extname as name, extversion as version from pg_extension order by extname',
  )
  return { postgres: version, vector: vectorVersion ?? null, extensions: rows }
}

export async function recordInstalled(
  state: Queryable,
  id: string,
  { postgres, vector, extensions }: Installed,
): Promise<void> {
  await state.query(
    `update databases set postgres_version = $2, vector_version = $3, extensions = $4
     where id = $1
       and (postgres_version, vector_version, extensions) is distinct from ($2::text, $3::text, $4::jsonb)`,
    [id, postgres, vector, JSON.stringify(extensions)],
  )
}
