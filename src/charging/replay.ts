// What earlier lives of a process left in their journals, posted under their own sessions. Called with
// the lock of the journal held: those lives are over, and their leases return only now.
import { OVERTAKEN, type Ledger } from '#ledger/tick.ts'
import type { LeftBehind } from './journal.ts'
import { debitsOf, RECORDS_PER_TICK_MAX } from './session.ts'

export type Replayed = {
  readonly records: number
  /** Records after a gap (lost in a power cut, or damaged) or of a session that was written off. They are the operator's loss. */
  readonly lost: number
  /** Files whose records are posted, or never can be. */
  readonly done: readonly string[]
  /** Sessions that this ledger does not know: their files are kept, for the ledger they belong to. */
  readonly unknown: readonly string[]
}

/** Idempotent: a replay that was interrupted is done again from where it was. */
export async function replay(
  ledger: Ledger,
  process: string,
  leftBehind: readonly LeftBehind[],
  meter: string,
): Promise<Replayed> {
  let records = 0
  let lost = 0
  const done: string[] = []
  const unknown: string[] = []
  for (const life of leftBehind) {
    const posted = await replayLife(ledger, life, meter).catch(async (error: unknown) => {
      if (!isOvertaken(error)) throw error
      return await replayLife(ledger, life, meter)
    })
    if (posted === undefined) unknown.push(life.session)
    else done.push(...life.files)
    records += posted?.records ?? 0
    lost += posted?.lost ?? 0
  }
  const open = await ledger.openSessionOf(process)
  if (open !== undefined) {
    // A life that has posted has a file, if only an empty one: of the rest nothing can be known.
    if (open.lastSeq > 0n && !leftBehind.some(({ session }) => session === open.session))
      await ledger.alarm('journal_missing', {
        session: open.session,
        posted: String(open.lastSeq),
      })
    await ledger.closeSession(open.session)
  }
  return { records, lost, done, unknown }
}

/** PostgreSQL may have got the last tick of a dead life before it got our look at that life. */
const isOvertaken = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === OVERTAKEN

async function replayLife(
  ledger: Ledger,
  life: LeftBehind,
  meter: string,
): Promise<{ records: number; lost: number } | undefined> {
  const { session } = life
  // A file without a whole header was being made when the power went: it never had a record.
  if (session === '') return { records: 0, lost: 0 }
  const known = await ledger.findSession(session)
  if (known === undefined) return undefined
  let fresh = life.records.filter((record) => record.seq > known.lastSeq)
  let { lost } = life
  // Written off while its process was away: its leases went back, so its records cannot be posted.
  const isWrittenOff = !known.open
  if (isWrittenOff || (fresh[0] !== undefined && fresh[0].seq !== known.lastSeq + 1n)) {
    lost += fresh.length
    fresh = []
  }
  let number = known.lastTick
  // It honours no credentials any more; to tell it of a million changes took 4.5 s with each batch.
  const epoch = known.newestChange
  for (let at = 0; at < fresh.length; at += RECORDS_PER_TICK_MAX) {
    const batch = fresh.slice(at, at + RECORDS_PER_TICK_MAX)
    const debits = debitsOf(batch)
    const input = { session, number: ++number, epoch, meter, wants: [] }
    await ledger.tick({ ...input, records: batch, debits })
  }
  if (lost > 0)
    await ledger.alarm('journal_gap', {
      session,
      lost: String(lost),
      posted: String(known.lastSeq + BigInt(fresh.length)),
    })
  return { records: fresh.length, lost }
}
