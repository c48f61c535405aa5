// Posts the journals of earlier lives of a process, under their own sessions. The caller holds the lock of the
// journal: those lives are over, and their leases return only now.
import { isOvertaken, type KnownSession, type Ledger } from '#ledger/tick.ts'
import { parseCharge } from '#contract/ledger/charge.ts'
import { chargeText } from './charge-text.ts'
import type { LeftBehind } from './journal.ts'
import type { JournalRecord } from './journal-record.ts'
import { lastOf } from './journal-segment.ts'
import { debitsOf, RECORDS_PER_TICK_MAX } from './session.ts'

export type Replayed = {
  readonly records: number
  /** Records that a damaged journal or a power cut took, or of a session that was written off. They are the operator's loss. */
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
      // PostgreSQL may have got the last tick of a dead life before it got our look at that life.
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

async function replayLife(
  ledger: Ledger,
  life: LeftBehind,
  meter: string,
): Promise<{ records: number; lost: number } | undefined> {
  // A file without a header has no session that its records could be posted in.
  if (life.session === '') return { records: 0, lost: 0 }
  const known = await ledger.findSession(life.session)
  if (known === undefined) return undefined
  const fresh = life.records.filter((record) => record.seq > known.lastSeq)
  const last = lastOf(life, known.lastSeq)
  const missing = Number(last - known.lastSeq)
  if (known.open) {
    const open = await unsettled(ledger, life, last)
    const all = [...fresh, ...open]
    await post(ledger, known, { fresh: all, last: last + BigInt(open.length), meter })
    return { records: all.length, lost: missing - fresh.length }
  }
  // Written off while its process was away: its leases went back, so its records cannot be posted.
  if (missing > 0)
    await ledger.alarm('journal_gap', {
      session: known.session,
      first: String(known.lastSeq + 1n),
      last: String(last),
      lost: String(missing),
    })
  return { records: 0, lost: missing }
}

/** The provisional charges that no charge of the same receipt followed, with the numbers after `last`. */
async function unsettled(ledger: Ledger, life: LeftBehind, last: bigint): Promise<JournalRecord[]> {
  if (life.provisional.length === 0) return []
  const charges = new Map(
    life.provisional.map((record) => {
      const charge = parseCharge(record.bytes)
      return [charge.id, { charge, debits: record.debits }]
    }),
  )
  for (const { kind, bytes } of life.records)
    if (kind === 'charge') charges.delete(parseCharge(bytes).id)
  // The segment of a charge may be gone: a power cut takes any of the last writes.
  for (const id of await ledger.posted([...charges.keys()])) charges.delete(id)
  return [...charges.values()].map(({ charge, debits }, index): JournalRecord => {
    const seq = last + BigInt(index) + 1n
    const bytes = Buffer.from(chargeText({ ...charge, seq: seq.toString() }))
    return { seq, kind: 'charge', bytes, debits }
  })
}

/** Posts records up to the number `last`; missing records are posted as lost. */
async function post(
  ledger: Ledger,
  known: KnownSession,
  { fresh, last, meter }: { fresh: readonly JournalRecord[]; last: bigint; meter: string },
): Promise<void> {
  const { session } = known
  let posted = known.lastSeq
  let number = known.lastTick
  // It honours no credentials any more; to tell it of a million changes took 4.5 s with each batch.
  const epoch = known.newestChange
  for (const batch of batchesOf(fresh)) {
    const first = batch[0]?.seq ?? 0n
    if (first > posted + 1n) await ledger.lose(session, posted + 1n, first - 1n)
    const input = { session, number: ++number, epoch, meter, wants: [] }
    const { lastSeq } = await ledger.tick({ ...input, records: batch, debits: debitsOf(batch) })
    posted = lastSeq
  }
  if (last > posted) await ledger.lose(session, posted + 1n, last)
}

/** Runs without a gap, each at most what one tick takes. */
function batchesOf(records: readonly JournalRecord[]): JournalRecord[][] {
  const batches: JournalRecord[][] = []
  for (const record of records) {
    const batch = batches.at(-1)
    const follows = batch?.at(-1)?.seq === record.seq - 1n && batch.length < RECORDS_PER_TICK_MAX
    if (follows) batch.push(record)
    else batches.push([record])
  }
  return batches
}
