// Accounting of a process that spends energy: the lock of its journal, the replay of the journal of an earlier life,
// a session with the ledger, leases, marks and charging.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#base/clock.ts'
import { lockFile } from '#base/lock.ts'
import type { Logger } from '#base/log.ts'
import { nj, priceCeiling, type Nj } from '#base/units.ts'
import { createCharging, type Charging } from '#charging/charging.ts'
import { createDisk, type Disk } from '#charging/disk.ts'
import { Journal, readJournals } from '#charging/journal.ts'
import { Leases } from '#charging/leases.ts'
import { replay } from '#charging/replay.ts'
import { Session } from '#charging/session.ts'
import { createLedger } from '#ledger/ledger.ts'
import type { CredentialChange, Ledger, ReserveKind } from '#ledger/tick.ts'
import { createMarks, type Marks } from '#metering/marks.ts'
import type { Queryable, State } from '#state/connect.ts'

// The least energy that a session requests: some hundred requests of a small model.
const LEASE_LEAST_NJ = nj(500_000_000_000n)
const CLOSE_TIMEOUT_MS = 1500
/** Damaged files that are kept have this prefix. */
export const DAMAGED = 'damaged-'
/**
 * Segments of a process that writes a record a second and less. To fill 16 MiB with zeros takes 27 ms of CPU at each
 * start, and 55 ms of the disk.
 */
export const SMALL_SEGMENT_BYTES = 4 * 1024 * 1024

export type Accounting = {
  readonly session: Session
  readonly charging: Charging
  readonly marks: Marks
  readonly journal: Journal
  /** Posts the rest within the limit, ends the session, gives up the lock. */
  close(limitMs?: number): Promise<void>
}

export type AccountingOptions = {
  process: string
  meter: string
  journalFolder: string
  /** The payers of this process's CPU (default: the running work marks its own CPU). */
  marks?: Marks
  /** The least energy that a lease requests, beyond the energy held (default 500 J). */
  leaseLeastNj?: Nj
  /** The most that running work holds beyond its use, where wallets and budgets may be small. */
  aheadNj?: Nj
  /** The reserves that it may draw on: those of the things that it charges for. */
  draws?: ReserveKind
  /** Replies wait until their charge survives a power cut. */
  journalSync?: boolean
  segmentBytes?: number
  state: State
  /** The state for the ticks of a process that ticks often (default: as all else). */
  ticks?: Queryable
  log: Logger
  forget: (changes: readonly CredentialChange[]) => void
  failed: (error: unknown) => void
}

/**
 * Opens a process's accounting. `failed` is called when the journal or the session is lost: nothing
 * that the process says afterwards could be trusted, so it must end.
 */
export async function openAccounting(options: AccountingOptions): Promise<Accounting> {
  const { process, meter, state, ticks = state, log, failed } = options
  mkdirSync(options.journalFolder, { recursive: true, mode: 0o700 })
  const lock = await lockFile(join(options.journalFolder, 'lock'))
  const disk = createDisk(options.journalFolder)
  const ledger = createLedger(state, ticks)
  const { sessions } = await postEarlierLives({ process, meter, log, disk, ledger })
  const opened = await ledger.openSession(process, {
    lifeMin: lifeAfter(process, sessions),
    draws: options.draws,
  })
  const { leaseLeastNj = LEASE_LEAST_NJ, marks = createMarks(), segmentBytes } = options
  const journal = new Journal({
    disk,
    session: opened.session,
    clock: systemClock,
    failed,
    sync: options.journalSync === true,
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
  })
  const leases: Leases = new Leases((want) =>
    want.startsWith('money:')
      ? priceCeiling(leaseLeastNj, session.latest?.price.pusdPerJ ?? 0n)
      : leaseLeastNj,
  )
  const session: Session = new Session({
    ledger,
    journal,
    leases,
    clock: systemClock,
    log,
    meter,
    opened,
    forget(changes) {
      options.forget(changes)
      for (const change of changes) charging.revoke(change)
    },
    lost: failed,
    ticked: () => charging.ticked(),
  })
  const charging: Charging = createCharging({
    session,
    leases,
    marks,
    clock: systemClock,
    aheadNj: options.aheadNj,
  })
  // A revocation waits until every session has acted on it: one message goes to all sessions.
  const credentials = await state
    .listen('ergon_credentials', () => session.poke())
    .catch((error: unknown) => {
      // The process ends after this failure, and would close the state under a session that still ticks.
      session.abandon()
      throw error
    })
  return {
    session,
    charging,
    marks,
    journal,
    async close(limitMs = CLOSE_TIMEOUT_MS) {
      // In reverse, and each of them whatever the one before said.
      await using ends = new AsyncDisposableStack()
      ends.use(lock)
      ends.use(journal)
      ends.defer(() => session.close(AbortSignal.timeout(limitMs)))
      ends.defer(() => charging.settleUnattributed())
      ends.use(credentials)
    },
  }
}

/**
 * Posts what earlier lives of a process left in its journal, then removes the files, and ends those lives.
 * Resolves with their sessions, and those of them that this state does not know, whose files are kept.
 */
export async function postEarlierLives(
  deps: Pick<AccountingOptions, 'process' | 'meter' | 'log'> & {
    disk: Disk
    ledger: Ledger
  },
): Promise<{ sessions: readonly string[]; unknown: readonly string[] }> {
  const { process, meter, log, disk, ledger } = deps
  const left = readJournals(disk)
  const { records, lost, unknown, done } = await replay(ledger, process, left, meter)
  const keepAside = asideOf(deps)
  if (records > 0) log.info('Posted what an earlier life had journaled', { process, records })
  if (lost > 0) log.error('Lost journaled records', { process, lost })
  if (unknown.length > 0)
    log.error('Kept journals of sessions that this state does not know', { unknown })
  const damaged = left.flatMap((life) => life.damaged)
  for (const file of done)
    if (damaged.includes(file)) await keepAside(file)
    else disk.remove(file)
  return { sessions: left.map(({ session }) => session), unknown }
}

/** Keeps damaged files for the operator, under names that no replay reads; raises an alarm for each. */
function asideOf({
  process,
  log,
  disk,
  ledger,
}: {
  process: string
  log: Logger
  disk: Disk
  ledger: Ledger
}) {
  const stamp = new Date().toISOString().replaceAll(/[:.-]/g, '')
  return async (file: string) => {
    const aside = `${DAMAGED}${stamp}-${file}`
    log.error('A file of the journal was damaged, and is kept', { process, file: aside })
    // Alarmed first: killed in between, the next start alarms it again.
    await ledger.alarm('journal_damaged', { process, file: aside })
    disk.rename(file, aside)
  }
}

/**
 * A life that none of these sessions has. A state that was restored from a dump has forgotten some lives, and a
 * second life of the same name would be joined with the kept journal of the first.
 */
function lifeAfter(process: string, sessions: readonly string[]): number {
  const lives = sessions
    .filter((session) => session.startsWith(`${process}.`))
    .map((session) => Number(/^\d{1,9}$/.exec(session.slice(process.length + 1))?.[0] ?? 0))
  return Math.max(0, ...lives) + 1
}
