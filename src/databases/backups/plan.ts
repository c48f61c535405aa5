// The needs of a restore: one copy of the files, and the log without a gap from its beginning.
import type { NewBlob } from '#blobs/blob.ts'
import type { Json } from '#objects/types.ts'
import type { Queryable } from '#state/connect.ts'
import type { SealedBlob } from './sealed-blobs.ts'
import { positionOf, positionText, segmentStart } from './wire.ts'

export type WantedRestore = {
  readonly source: string
  /** In the place of its source, whose files are gone: of all that is stored. */
  readonly isOwn?: boolean
  /** The end of this backup; otherwise the time, or the last moment. */
  readonly backup: string | null
  readonly until: Date | null
}

export type LogPiece = SealedBlob & {
  readonly begin: bigint
  readonly end: bigint
  readonly timeline: number
}

export type RestorePlan = {
  readonly files: readonly SealedBlob[]
  readonly filesBytes: number
  readonly log: readonly LogPiece[]
  /** The end of the copy: before it there is no consistent state. */
  readonly consistent: bigint
}

type BackupRow = {
  readonly id: string
  readonly total: string
  readonly begin: string
  readonly end: string
}
type BlobRow = {
  readonly blob: NewBlob & { readonly size: number }
  readonly size: string
  readonly key: Json
}
type LogRow = BlobRow & { readonly begin: string; readonly end: string; readonly timeline: number }

const BACKUP = `select id, total_bytes::text as total, begin_lsn::text as begin, end_lsn::text as end
  from database_backups where database = $1 and status = 'done'`
const BLOB =
  "json_build_object('id', b.id, 'location', b.location, 'size', b.size, 'checksum', b.checksum) as blob"

/** Throws a BackupFault. */
export async function planRestore(state: Queryable, wanted: WantedRestore): Promise<RestorePlan> {
  const backup = await backupOf(state, wanted)
  const gap = await gapAfter(state, wanted.source, backup)
  if (gap !== undefined && wanted.backup === null && wanted.isOwn !== true)
    demandBefore(gap, wanted.until)
  const parts = await state.query<BlobRow>(
    `select ${BLOB}, p.size::text, p.key from database_parts p join blobs b on b.id = p.blob
     where p.backup = $1 order by p.number`,
    [backup.id],
  )
  const start = segmentStart(positionOf(backup.begin))
  const log = await logOf(state, wanted, { backup, start, gap })
  const consistent = positionOf(backup.end)
  checkWhole(log, { start, consistent })
  return {
    files: parts.rows.map(sealedOf),
    filesBytes: Number(backup.total),
    log,
    consistent,
  }
}

async function backupOf(
  state: Queryable,
  { source, backup, until }: WantedRestore,
): Promise<BackupRow> {
  const { rows } =
    backup === null
      ? await state.query<BackupRow>(
          `${BACKUP} and ended_at <= coalesce($2::timestamptz, 'infinity') order by ended_at desc limit 1`,
          [source, until],
        )
      : await state.query<BackupRow>(`${BACKUP} and id = $2`, [source, backup])
  if (rows[0] !== undefined) return rows[0]
  throw new BackupFault(
    until === null
      ? 'there is no backup yet'
      : `there is no backup from before ${until.toISOString()}`,
  )
}

/** A part of the log that was never stored. The log before it has all that was written by `storedTo`. */
type LogGap = { readonly from: string; readonly storedTo: Date }

async function gapAfter(
  state: Queryable,
  source: string,
  { begin }: BackupRow,
): Promise<LogGap | undefined> {
  const { rows } = await state.query<LogGap>(
    `select from_lsn::text as from, stored_to as "storedTo" from database_log_gaps
     where database = $1 and from_lsn >= $2 order by from_lsn limit 1`,
    [source, begin],
  )
  return rows[0]
}

/** The copy is the last one from before the time. Throws a BackupFault. */
function demandBefore({ storedTo }: LogGap, until: Date | null): void {
  if (until !== null && until <= storedTo) return
  throw new BackupFault(
    `its log from ${storedTo.toISOString()} on was lost, and no copy from behind the loss is from before that time`,
  )
}

/** With all that a commit before the time can be in: up to the first copy that began after it, or to a part that was lost. */
async function logOf(
  state: Queryable,
  { source, backup: id, until }: WantedRestore,
  {
    backup,
    start,
    gap,
  }: { readonly backup: BackupRow; readonly start: bigint; readonly gap: LogGap | undefined },
): Promise<LogPiece[]> {
  const { rows } = await state.query<LogRow>(
    `select ${BLOB}, w.size::text, w.key, w.begin_lsn::text as begin, w.end_lsn::text as end, w.timeline
     from database_wal w join blobs b on b.id = w.blob
     where w.database = $1 and w.end_lsn > $2 and w.begin_lsn < least($6::pg_lsn,
       case when $3::boolean then $4::pg_lsn else (select min(begin_lsn) from database_backups
         where database = $1 and status = 'done' and started_at > $5::timestamptz) end, 'FFFFFFFF/FFFFFFFF')
     order by w.begin_lsn`,
    [source, positionText(start), id !== null, backup.end, until, gap?.from ?? null],
  )
  return rows.map((row) => ({
    ...sealedOf(row),
    begin: positionOf(row.begin),
    end: positionOf(row.end),
    timeline: row.timeline,
  }))
}

/** A server would end its recovery at a gap without a word. */
function checkWhole(
  log: readonly LogPiece[],
  { start, consistent }: { readonly start: bigint; readonly consistent: bigint },
): void {
  let reached: bigint | undefined
  for (const { begin, end } of log) {
    if (reached === undefined ? begin > start : begin !== reached) break
    reached = end
  }
  if (reached !== undefined && reached === log.at(-1)?.end && reached >= consistent) return
  throw new BackupFault(`the log has a gap after ${positionText(reached ?? start)}`)
}

const sealedOf = ({ blob, size, key }: BlobRow): SealedBlob => ({ blob, size: Number(size), key })

/** Why a backup or a restore cannot be made, in words for its account. */
export class BackupFault extends Error {}

/** Such a reason of the service, which may pass: the job is tried again. */
export class PassingFault extends BackupFault {}
