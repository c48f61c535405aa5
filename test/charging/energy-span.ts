// A span of a running Ergon's meter and ledger, by SQL: it starts and ends with no open Spend and all windows closed,
// so that bills and readings are of the same work.
import { setTimeout as pause } from 'node:timers/promises'
import { parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { parseWindow } from '#metering/window-record.ts'
import type { MeterWindow } from '#metering/window.ts'
import type { Ergon } from '../start-ergon.ts'

export type Span = {
  readonly charges: readonly Charge[]
  /** Every one of them splits into exactly its reading: parseWindow checks it. */
  readonly windows: readonly MeterWindow[]
  readonly readingNj: bigint
  readonly billedNj: bigint
  /** The operator's energy wallet's income. */
  readonly operatorNj: bigint
}

const QUIET_MAX_MS = 60_000
const POLL_MS = 100
// One window may be closing while the last Spend settles; the next one has all of its CPU time.
const WINDOWS_AFTER = 3

/** Measures what the ledger got while the work ran. */
export async function spanOf(ergon: Ergon, work: () => Promise<void>): Promise<Span> {
  const start = await atRest(ergon)
  await work()
  const end = await atRest(ergon)
  const bytes = async (table: 'charges' | 'windows', since: bigint) =>
    (
      await ergon.sql<{ bytes: Buffer }>(
        table === 'charges'
          ? 'select bytes from charges where leaf_index >= $1 order by leaf_index'
          : 'select bytes from windows where k > $1 order by k',
        [since.toString()],
      )
    ).map((row) => row.bytes)
  const charges = (await bytes('charges', start.leaves)).map(parseCharge)
  const windows = (await bytes('windows', start.k)).map(parseWindow)
  return {
    charges: charges.slice(0, Number(end.leaves - start.leaves)),
    windows: windows.filter((window) => BigInt(window.k) <= end.k),
    readingNj: end.readingNj - start.readingNj,
    billedNj: end.billedNj - start.billedNj,
    operatorNj: end.operatorNj - start.operatorNj,
  }
}

type Books = Record<'k' | 'leaves' | 'readingNj' | 'billedNj' | 'operatorNj', bigint>

/** The sums of the ledger, once no request runs and the windows of those that ran are posted. */
async function atRest(ergon: Ergon): Promise<Books> {
  const signal = AbortSignal.timeout(QUIET_MAX_MS)
  const until = async (condition: () => Promise<boolean>) => {
    while (!(await condition())) await pause(POLL_MS, undefined, { signal })
  }
  for (;;) {
    await until(async () => (await runningRequests(ergon)) === 0)
    const { k, leaves } = await books(ergon)
    await until(async () => (await books(ergon)).k >= k + BigInt(WINDOWS_AFTER))
    const rest = await books(ergon)
    // A connection that was left is answered 408 seconds later: that has a charge, and no window yet.
    if (rest.leaves === leaves) return rest
  }
}

async function runningRequests(ergon: Ergon): Promise<number> {
  const text = await ergon.control('node.metrics')
  const found = /^ergon_requests_running (\d+)$/m.exec(text)
  if (found === null) throw new Error(`no requests_running in the metrics:\n${text}`)
  return Number(found[1])
}

/** One statement, so that all of it is of one instant. */
async function books(ergon: Ergon): Promise<Books> {
  const [row] = await ergon.sql<Record<keyof Books, string>>(
    `select (select coalesce(max(k), 0) from windows)::text as k,
       (select size from log_head)::text as leaves,
       (select coalesce(sum(reading_nj), 0) from windows)::text as "readingNj",
       (select coalesce(sum(energy_nj), 0) from charges)::text as "billedNj",
       (select posted from wallets where id = 'operator:energy')::text as "operatorNj"`,
  )
  const entries = Object.entries(row ?? {}).map(([name, value]) => [name, BigInt(value)])
  return Object.fromEntries(entries) as Books
}
