// Brings the state to this version under one advisory lock: the numbered, forward-only files of each area, then
// the functions, which are replaced as a whole at every start.
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { fault } from '#contract/errors.ts'
import { ADVISORY_LOCKS } from './advisory-locks.ts'
import type { Queryable, State } from './connect.ts'
import type { Schema } from './schema.ts'

const NAME = /^\d{4}_[a-z0-9-]+\.sql$/

/**
 * Applies the missing files and (re)creates the functions of the given areas, in their order and in one
 * transaction. `beginning` hears of each file before it is applied, and whether the state is new.
 * Throws `state_too_new` for a state that a newer version wrote, and `state_too_old` for a state that was made
 * before 0.1.0. Throws `state_foreign` where the tables are not those of the applied files. Each changes nothing.
 */
export async function migrate(
  state: State,
  schemas: readonly Schema[],
  beginning: (name: string, isNew: boolean) => void = () => undefined,
): Promise<{ applied: string[]; isNew: boolean }> {
  const files = await filesOf(schemas)
  return await state.transaction(async (transaction) => {
    // A role may have a limit of its own.
    await transaction.query('set local statement_timeout = 0')
    await transaction.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.schemas])
    const known = await appliedFiles(transaction)
    const newer = [...known].filter((name) => !files.has(name))
    if (newer.length > 0)
      throw fault(
        'state_too_new',
        `Could not use this state: a newer version wrote it: ${newer.join(', ')}`,
      )
    const applied: string[] = []
    for (const [name, file] of files) {
      if (known.has(name)) continue
      beginning(name, known.size === 0)
      await apply(transaction, file, name)
      await transaction.query('insert into applied_schemas (name) values ($1)', [name])
      applied.push(name)
    }
    for (const { area, functions } of schemas)
      for (const file of functions) await apply(transaction, file, `functions of ${area}`)
    return { applied, isNew: known.size === 0 }
  })
}

/** Name, such as `ledger/0001_ledger`, and file of each step, in the order of their application. */
async function filesOf(schemas: readonly Schema[]): Promise<Map<string, URL>> {
  const files = new Map<string, URL>()
  for (const { area, tables } of schemas)
    for (const file of (await readdir(tables)).toSorted()) {
      // A step that is left out by its name would be missed much later.
      if (!NAME.test(file))
        throw new TypeError(
          `Could not use ${area}/${file}: a step is named like 0001_some-words.sql`,
        )
      files.set(`${area}/${file.slice(0, -'.sql'.length)}`, new URL(file, tables))
    }
  return files
}

/** The steps that this state has. */
async function appliedFiles(transaction: Queryable): Promise<Set<string>> {
  // Versions before 0.1.0 kept one list of numbered migrations.
  const { rows } = await transaction.query<{ isOld: boolean }>(
    `select to_regclass('migrations') is not null as "isOld"`,
  )
  if (rows[0]?.isOld === true)
    throw fault(
      'state_too_old',
      'Could not use this state: a version before 0.1.0 made it, and its tables were different. ' +
        'Start with a new data folder (--data) or an empty database, or run the version that made the state',
    )
  await transaction.query(
    'create table if not exists applied_schemas (name text primary key, at timestamptz not null default now())',
  )
  const done = await onOurs('applied_schemas', () =>
    transaction.query<{ name: string }>('select name from applied_schemas'),
  )
  return new Set(done.rows.map(({ name }) => name))
}

const apply = (transaction: Queryable, file: URL, name: string) =>
  onOurs(name, async () => transaction.query(await readFile(file, 'utf8')))

// SQLSTATE class 42: an object that exists already, is missing, or has another shape.
const OTHER_OBJECTS = /^42(?!501)/

/** Runs a statement that can fail by the objects that are there. */
async function onOurs<T>(step: string, statement: () => Promise<T>): Promise<T> {
  try {
    return await statement()
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !OTHER_OBJECTS.test(error.code ?? '')) throw error
    throw fault(
      'state_foreign',
      `Could not use this state: ${error.message} (${step}). Its schema has objects of another program, or lacks ` +
        'some of ours: name an empty database or schema, or restore this one from its copy',
      { cause: error },
    )
  }
}
