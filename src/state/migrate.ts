// Brings the state to this version: numbered, forward-only .sql files under one advisory lock, then
// the functions of the ledger, which are replaced as a whole at every start.
import { readdir, readFile } from 'node:fs/promises'
import { ErgonError } from '#base/errors.ts'
import type { Queryable, State } from './connect.ts'

const FOLDER = new URL('./migrations/', import.meta.url)
const MIGRATION_LOCK = 4_207_701
const NAME = /^(\d{4})_[a-z0-9-]+\.sql$/

/**
 * Applies what is missing and (re)creates the given function files; `beginning` hears of each migration
 * before it is applied, and whether the state is a new one. Throws `state_too_new` when the state was written by a newer version.
 */
export async function migrate(
  state: State,
  functionFiles: readonly URL[],
  beginning: (name: string, isNew: boolean) => void = () => undefined,
): Promise<{ applied: string[]; isNew: boolean }> {
  const files = (await readdir(FOLDER)).filter((name) => NAME.test(name)).toSorted()
  return await state.transaction(async (transaction) => {
    // A role may have a limit of its own.
    await transaction.query('set local statement_timeout = 0')
    await transaction.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await transaction.query(
      'create table if not exists migrations (name text primary key, at timestamptz not null default now())',
    )
    const done = await transaction.query<{ name: string }>(
      'select name from migrations order by name',
    )
    const known = new Set(done.rows.map((row) => row.name))
    const newer = [...known].filter((name) => !files.includes(name))
    if (newer.length > 0)
      throw new ErgonError(
        { code: 'state_too_new', status: 500 },
        `Could not use this state: a newer version wrote it: ${newer.join(', ')}`,
      )
    const isNew = known.size === 0
    const applied: string[] = []
    for (const name of files.filter((file) => !known.has(file))) {
      beginning(name, isNew)
      await apply(transaction, new URL(name, FOLDER))
      await transaction.query('insert into migrations (name) values ($1)', [name])
      applied.push(name)
    }
    for (const file of functionFiles) await apply(transaction, file)
    return { applied, isNew }
  })
}

const apply = async (transaction: Queryable, file: URL) =>
  await transaction.query(await readFile(file, 'utf8'))
