// Backups of a database as the API shows them, also those of a deleted one.
import { invariant } from '#base/errors.ts'
import type { DatabaseRow } from '#databases/find-database.ts'
import type { BackupListReply, BackupReply } from '#contract/databases/databases.ts'
import { fault } from '#contract/errors.ts'
import { notFoundWords } from '#resources/not-found.ts'
import type { Queryable } from '#state/connect.ts'

/** A database that has backups, or had them: whether it is deleted or not. */
export type BackedUp = {
  readonly id: string
  readonly name: string
  readonly size_bytes: string
  readonly wanted: string
  readonly actual: DatabaseRow['actual']
  readonly backup_bytes: string
  /** The end of the first copy that the retention keeps. */
  readonly restorable_from: Date | null
  /** The times that can be restored. */
  readonly restorable: readonly RestorableTimes[]
  /** Of a deleted database: when its files were gone. */
  readonly removed_at: Date | null
  /** Since when rows may be missing, of a deleted database. */
  readonly log_lost_from: Date | null
}

/** The earliest first; only the last one may go on until now, which is null. */
export type RestorableTimes = BackupListReply['restorable'][number]

type NamedDatabase = { readonly account: string; readonly wanted: string }

/** Deleted databases that a refusal names. */
const NAMED_MAX = 5

/**
 * The id of a database that may be deleted: by its id, or by its name. A deleted one keeps its name while it has backups, where no
 * other one has that name. Throws database_not_found.
 */
export async function idOfDatabase(
  state: Queryable,
  { account, wanted }: NamedDatabase,
): Promise<string> {
  const { rows } = await state.query<{ id: string; isClear: boolean }>(
    `select id, id = $2 or desired <> 'deleted' as "isClear" from resources join databases d using (id)
     where account = $1 and kind = 'database'
       and (id = $2 or name = $2 and (desired <> 'deleted' or d.backup_bytes > 0))
     order by 2 desc, id desc limit $3`,
    [account, wanted, NAMED_MAX],
  )
  const [found, next] = rows
  if (found === undefined)
    throw fault(
      'database_not_found',
      await notFoundWords(state, { account, kind: 'database', wanted }),
    )
  const shown = `"${wanted.slice(0, 100)}"`
  if (found.isClear || next === undefined) return found.id
  const ids = rows.map(({ id }) => id).join(', ')
  throw fault(
    'database_not_found',
    `Could not find one database: several deleted ones are ${shown}; name one by its id: ${ids}`,
  )
}

/**
 * Holds the backups of a database to the end of the transaction: nobody accepts a restore of them, wants a backup, or removes
 * one meanwhile. Comes before the locks of resources and of the ledger.
 */
export async function holdBackups(transaction: Queryable, database: string): Promise<void> {
  await transaction.query('select from databases where id = $1 for no key update', [database])
}

/** A database that may be deleted, with its backups. Throws database_not_found. */
export async function findBackedUp(
  state: Queryable,
  { keptMs, ...asked }: NamedDatabase & { readonly keptMs: number },
): Promise<BackedUp> {
  const id = await idOfDatabase(state, asked)
  const { rows } = await state.query<BackedUp & { readonly restorable: readonly TextTimes[] }>(
    `select n.id, n.name, d.size_bytes::text, n.wanted, n.actual, d.backup_bytes::text, log_lost_from(n.id),
       case n.actual when 'deleted' then n.changed_at end as removed_at,
       (first_backup(n.id, $2)).ended_at as restorable_from, restorable_json(n.id, $2) as restorable
     from resources n join databases d using (id) where n.id = $1`,
    [id, keptMs],
  )
  const [found] = rows
  invariant(found !== undefined, `A database has a row: ${id}`)
  return { ...found, restorable: found.restorable.map(timesOf) }
}

/** As PostgreSQL writes times in JSON. */
type TextTimes = { readonly from: string; readonly to: string | null }

const timesOf = ({ from, to }: TextTimes): RestorableTimes => ({
  from: new Date(from).toISOString(),
  to: to === null ? null : new Date(to).toISOString(),
})

type BackupRow = Omit<BackupReply, 'object' | 'created_at' | 'ended_at'> & {
  readonly created_at: Date
  readonly ended_at: Date | null
}

/** The backups of a database, the newest first, or the one of an id. */
export async function backupsOf(
  state: Queryable,
  database: string,
  id: string | null = null,
): Promise<BackupReply[]> {
  const { rows } = await state.query<BackupRow>(
    `select id, database, kind, status, reason, done_bytes::float8, total_bytes::float8, created_at, ended_at,
       coalesce((select sum(b.size) from database_parts p join blobs b on b.id = p.blob
         where p.backup = k.id), 0)::float8 as stored_bytes
     from database_backups k where database = $1 and ($2::text is null or id = $2) order by id desc`,
    [database, id],
  )
  return rows.map((row) => ({
    ...row,
    object: 'database.backup',
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }))
}

/** Throws backup_not_found. */
export async function findBackup(
  state: Queryable,
  database: string,
  id: string,
): Promise<BackupReply> {
  const [backup] = await backupsOf(state, database, id)
  if (backup !== undefined) return backup
  throw fault('backup_not_found', `Could not find the backup: "${id.slice(0, 100)}"`)
}
