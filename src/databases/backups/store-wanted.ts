// The log that a restore needs of a source that runs, stops or does not start.
import { sleep } from '#base/clock.ts'
import { NotAwake } from '#databases/agent-socket/awake.ts'
import { fatalText } from '#databases/agent-socket/energy-words.ts'
import type { WorkDeps } from './job.ts'
import { BackupFault } from './plan.ts'
import { storeLog, wakeServer } from './woken-server.ts'

/** The time of a restore, or the last moment. */
type RestoreMoment = { readonly database: string; readonly until: Date | null }

type Source = {
  /** The wish of its account. */
  readonly wanted: 'deployed' | 'suspended' | 'deleted'
  /** Its server has ended. */
  readonly isEnded: boolean
  /** The whole log is stored. */
  readonly isWhole: boolean
  /** The end of the stored log; null without any. */
  readonly end: string | null
  /** All is stored that was written by then. */
  readonly storedAt: Date
}

/** A server that stops has stored its log by then; that of a deleted database runs once more where it was killed. */
const STOP_MS_MAX = 60_000
/** For the record of a log that was stored at the end of its server. */
const RECORD_MS_MAX = 3000
const LOOK_MS = 100

/**
 * Resolves when all is stored that the moment of a restore can need, with the end of a record that a restore to the last
 * moment must reach. A server that runs stores its log now, and one that stops is waited for. Throws a BackupFault with
 * the time up to which the log is stored where that cannot be.
 */
export async function storeWanted(
  deps: WorkDeps,
  { database, until }: RestoreMoment,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { state, clock } = deps
  let lastMs = clock.monotonicMs() + STOP_MS_MAX
  for (;;) {
    const { rows } = await state.query<Source>(
      `select n.wanted, n.actual = n.wanted as "isEnded", d.is_archived as "isWhole", d.log_stored_at as "storedAt",
         (select end_lsn::text from database_wal where database = d.id order by begin_lsn desc limit 1) as "end"
       from databases d join resources n using (id) where d.id = $1`,
      [database],
    )
    const [source] = rows
    if (source === undefined) return undefined
    if (source.isWhole) return until === null ? (source.end ?? undefined) : undefined
    if (until !== null && until <= source.storedAt) return undefined
    if (source.wanted === 'deployed') {
      const stored = await storeNow(deps, database, signal)
      if (typeof stored === 'string') return until === null ? stored : undefined
      // A wish that came meanwhile ends the server in order.
      if ((await wishOf(deps, database)) === 'deployed') throw storedOnly(source, stored)
    } else if (clock.monotonicMs() > lastMs) throw storedOnly(source, WHY[source.wanted])
    else if (source.isEnded) lastMs = Math.min(lastMs, clock.monotonicMs() + RECORD_MS_MAX)
    await sleep(LOOK_MS, signal)
  }
}

const WHY = {
  suspended: 'it is suspended, and its server did not stop in order. Resume it',
  deleted: 'its server has not stored it yet, which is tried again by itself',
} as const

const wishOf = async ({ state }: WorkDeps, database: string): Promise<string | undefined> =>
  (await state.query<{ wanted: string }>('select wanted from resources where id = $1', [database]))
    .rows[0]?.wanted

/** Stores the log of a source that is awake, or wakes it up: up to which position, or why that cannot be. */
async function storeNow(
  deps: WorkDeps,
  database: string,
  ending: AbortSignal,
): Promise<BackupFault | NotAwake | string> {
  try {
    await using server = await wakeServer(deps, database, ending)
    try {
      return await storeLog(deps, { database, address: server.address }, server.signal)
    } catch (error) {
      server.signal.throwIfAborted()
      throw error
    }
  } catch (error) {
    if (error instanceof BackupFault || error instanceof NotAwake) return error
    throw error
  }
}

function storedOnly({ storedAt }: Source, why: string | BackupFault | NotAwake): BackupFault {
  const words =
    why instanceof NotAwake ? fatalText(why.fatal) : why instanceof Error ? why.message : why
  return new BackupFault(
    `its source can be restored to ${storedAt.toISOString()} or before. The rest of the log is not stored: ${words}`,
    { cause: why },
  )
}
