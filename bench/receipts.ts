// Measures the time from a settled charge to a receipt. Charges come at a steady rate into a whole product with five
// signers. The time of a charge ends when the first checkpoint that covers it is in the store.
import { setTimeout as pause } from 'node:timers/promises'
import { atRest, pidsOf, startProduct, stateOf } from './product.ts'
import type { Section } from './report.ts'
import { openSettling } from './settling.ts'
import { pssMib, treeCpuUs } from './processes.ts'

const RATES_PER_S = [1000, 5000]
const SECONDS = 8
const STEP_MS = 10
const LOOK_MS = 20
const SEALED_MAX_MS = 60_000
const SIGNER_MIB_MAX = 50

type Seal = { readonly size: number; readonly atMs: number }
type Result = { readonly rate: number; readonly agesMs: readonly number[]; readonly cpuUs: number }

export async function runReceipts(): Promise<Section> {
  const ergon = await startProduct()
  try {
    await using state = stateOf(ergon)
    await using settling = await openSettling(state, 'node')
    const results: Result[] = []
    for (const rate of RATES_PER_S) {
      await atRest(ergon.pid)
      const before = treeCpuUs(ergon.pid)
      const { settled, seals } = await feed(
        rate,
        settling.settleOne,
        async () => {
          const [row] = await ergon.sql<{ size: string }>(
            'select size from receipt_checkpoints order by sealed_at desc, size desc limit 1',
          )
          return Number(row?.['size'] ?? 0)
        },
        async () => Number((await ergon.sql('select size from log_head'))[0]?.['size'] ?? 0),
      )
      await atRest(ergon.pid)
      const cpuUs = (treeCpuUs(ergon.pid) - before) / settled.size
      const leaves = await ergon.sql<{ id: string; leaf_index: string }>(
        'select id, leaf_index from charges where session = $1',
        [settling.session],
      )
      const agesMs = leaves.flatMap(({ id, leaf_index: leaf }) => {
        const atMs = settled.get(id)
        if (atMs === undefined) return []
        const seal = seals.find(({ size }) => size > Number(leaf))
        return [(seal?.atMs ?? Number.POSITIVE_INFINITY) - atMs]
      })
      results.push({ rate: settled.size / SECONDS, agesMs, cpuUs })
    }
    const signers = pidsOf(ergon.pid, 'signer').map((pid) => pssMib(pid) ?? Number.NaN)
    return sectionOf(results, Math.max(...signers))
  } finally {
    await ergon.stop()
  }
}

/** Settles at a rate and watches the checkpoints until all of it is sealed. */
async function feed(
  rate: number,
  settle: () => Promise<{ readonly id: string }>,
  sealedSize: () => Promise<number>,
  postedSize: () => Promise<number>,
): Promise<{ settled: Map<string, number>; seals: Seal[] }> {
  const settled = new Map<string, number>()
  const seals: Seal[] = []
  const startMs = performance.now()
  let isFed = false
  const watching = (async () => {
    for (;;) {
      const wasFed = isFed
      const size = await sealedSize()
      if (size !== seals.at(-1)?.size) seals.push({ size, atMs: performance.now() })
      if (wasFed && size >= (await postedSize())) return
      if (performance.now() - startMs > SEALED_MAX_MS) throw new Error('Not all was sealed')
      await pause(LOOK_MS)
    }
  })()
  for (let due = 0; due < rate * SECONDS;) {
    const elapsed = Math.min(SECONDS, (performance.now() - startMs) / 1000)
    for (; due < elapsed * rate; due++) settled.set((await settle()).id, performance.now())
    await pause(STEP_MS)
  }
  // Charges that are not posted yet are not in the watched size: one tick's time, and more under load.
  await pause(1000)
  isFed = true
  await watching
  return { settled, seals }
}

function sectionOf(results: readonly Result[], signerMib: number): Section {
  const at = ({ agesMs }: Result, share: number) =>
    agesMs.toSorted((a, b) => a - b)[Math.floor(agesMs.length * share)] ?? Number.NaN
  const [last] = results.slice(-1)
  return {
    name: 'receipts',
    title: 'Receipts',
    bars:
      last === undefined
        ? []
        : [
            {
              what: `p99 from settled to sealed at ${last.rate.toFixed(0)} charges/s`,
              value: at(last, 0.99),
              most: 1000,
              unit: 'ms',
            },
            {
              what: 'largest signer after that, PSS',
              value: signerMib,
              most: SIGNER_MIB_MAX,
              digits: 1,
              unit: 'MiB',
            },
          ],
    tables: [
      {
        caption: 'From a settled charge to a signed checkpoint that covers it',
        columns: ['charges/s', 'p50 ms', 'p99 ms', 'max ms', 'CPU µs/charge, whole product'],
        rows: results.map((one) => [
          one.rate.toFixed(0),
          at(one, 0.5).toFixed(0),
          at(one, 0.99).toFixed(0),
          at(one, 1 - Number.EPSILON).toFixed(0),
          one.cpuUs.toFixed(0),
        ]),
      },
    ],
    notes: [
      `${SECONDS} s at each rate, 20 accounts; a whole product with five signers (three of five sign each checkpoint, all five check every charge). The process that settles is the bench's own and its CPU is not in the last column.`,
    ],
  }
}
