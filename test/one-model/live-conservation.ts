// The claim that the product stands on, on the product: the bill equals the meter (DESIGN, 1.1). The real
// default model answers 1, 16 and 64 clients at once; everything is computed from ledger and windows.
// ERGON_LONG=1 takes a minute for each.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { printJoules, nj } from '#base/units.ts'
import type { Window } from '#metering/window.ts'
import { bookFaults } from '../books.ts'
import { chatFor, type ChatCounts } from '../chat-load.ts'
import { spanOf, type Span } from '../energy-span.ts'
import { sharedErgon } from '../parts.ts'
import type { Ergon } from '../start-ergon.ts'
import { CHAT } from './models.ts'

const FOR_MS = process.env['ERGON_LONG'] === '1' ? 60_000 : 800
const TRUE_UP_PERCENT_MAX = 2n
// The more clients, the shorter their answers: the last ones end soon after the time is over.
const LOADS = [
  { concurrent: 1, maxTokens: 24 },
  { concurrent: 16, maxTokens: 8 },
  { concurrent: 64, maxTokens: 2 },
]

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await ergon.waitForModel(CHAT)
})

for (const { concurrent, maxTokens } of LOADS) {
  test(`the bill equals the meter at ${concurrent} at once`, async (t) => {
    let counts: ChatCounts | undefined
    const span = await spanOf(ergon, async () => {
      counts = await chatFor(ergon, { concurrent, maxTokens, forMs: FOR_MS })
    })
    const { readingNj, billedNj } = span
    const deltasNj = billByDeltas(span)
    const offNj = trueUpOf(span.windows)
    for (const line of report(span, { offNj, deltasNj, counts })) t.diagnostic(line)

    assert.ok(billedNj > 0n && billedNj <= readingNj)
    assert.ok(absolute(offNj) * 100n <= readingNj * TRUE_UP_PERCENT_MAX)
    assert.equal(span.operatorNj, readingNj - billedNj)
    // What the meter was held against is what the ledger has, to the last nanojoule.
    assert.equal(sumOf(span.windows, 'accruedNj'), billedNj)
    // Two counters that do not know of each other: marks and claims, and the kernel's of the cells.
    const serving = servingCells(span.windows)
    assert.ok(sumOf(span.windows, 'chargedNs') <= serving.cpuNs)
    assert.ok(billedNj <= serving.dynamicNj)
    const { receipts = [], streamed = 0, left = 0 } = counts ?? {}
    const served = span.charges.filter(
      ({ operation, status }) => operation === 'chat.create' && (status === 200 || status === 499),
    )
    assert.equal(served.length, receipts.length + streamed + left)
    const known = new Set(served.map((charge) => charge.id))
    assert.deepEqual(
      receipts.filter((receipt) => !known.has(receipt)),
      [],
    )
    assert.deepEqual(await bookFaults(ergon), [])
    // Planted: start and end readings of the meter, as a peer bills, must not pass the first line.
    if (concurrent > 1) assert.ok(deltasNj > readingNj, `${deltasNj} of ${readingNj}`)
  })
}

test('a meter of a linear model has one tariff', async () => {
  const windows = await ergon.sql<{ tariff: string }>(
    `select distinct convert_from(bytes, 'UTF8')::jsonb ->> 'tariff_nj_per_cpu_s' as tariff from windows`,
  )
  assert.equal(windows.length, 1)
})

/** What was billed less the same CPU time's part of each window's dynamic energy. */
function trueUpOf(windows: readonly Window[]): bigint {
  let offNj = 0n
  for (const { accruedNj, chargedNs, readingNj, idleNj, busyNs } of windows)
    offNj += accruedNj - (busyNs === 0n ? 0n : (chargedNs * (readingNj - idleNj)) / busyNs)
  return offNj
}

/** What the cells that answer requests used, and their part of the dynamic energy. */
const servingCells = (windows: readonly Window[]): { cpuNs: bigint; dynamicNj: bigint } =>
  windows
    .flatMap((window) => window.shares)
    .filter(({ name }) => name.startsWith('gw-') || name.startsWith('model-'))
    .reduce(
      (total, share) => ({
        cpuNs: total.cpuNs + share.cpuNs,
        dynamicNj: total.dynamicNj + share.dynamicNj,
      }),
      { cpuNs: 0n, dynamicNj: 0n },
    )

/** The nearest peer's method: each request pays what the meter read from its start to its end. */
function billByDeltas({ charges, windows }: Span): bigint {
  const points = [{ ms: ((windows[0]?.k ?? 0) - 1) * 1000, totalNj: 0 }]
  for (const { k, readingNj } of windows)
    points.push({ ms: k * 1000, totalNj: (points.at(-1)?.totalNj ?? 0) + Number(readingNj) })
  const meterAt = (ms: number): number => {
    const index = points.findIndex((point) => point.ms >= ms)
    const high = points[index] ?? points.at(-1)
    const low = points[index - 1] ?? high
    if (high === undefined || low === undefined || high.ms === low.ms) return high?.totalNj ?? 0
    return low.totalNj + ((high.totalNj - low.totalNj) * (ms - low.ms)) / (high.ms - low.ms)
  }
  return BigInt(
    Math.round(
      charges.reduce(
        (total, { from, to }) => total + meterAt(Date.parse(to)) - meterAt(Date.parse(from)),
        0,
      ),
    ),
  )
}

function report(
  span: Span,
  more: { offNj: bigint; deltasNj: bigint; counts: ChatCounts | undefined },
): string[] {
  const { readingNj, billedNj, windows, charges } = span
  const of = (energy: bigint) =>
    `${printJoules(nj(energy))} J (${(Number(energy * 10_000n) / Number(readingNj) / 100).toFixed(3)} % of the reading)`
  const { counts } = more
  return [
    `${windows.length} windows read ${printJoules(nj(readingNj))} J; ${charges.length} charges: ` +
      `${counts?.receipts.length} whole, ${counts?.streamed} streamed, ${counts?.left} left, ` +
      `refused ${JSON.stringify([...(counts?.refused ?? [])])}`,
    `billed ${of(billedNj)}, the operator's own share ${of(readingNj - billedNj)}`,
    `true-up ${of(more.offNj)}`,
    `charged ${sumOf(windows, 'chargedNs')} of the serving cells' ${servingCells(windows).cpuNs} ns of CPU`,
    `planted start/end deltas would bill ${of(more.deltasNj)}`,
  ]
}

const sumOf = (windows: readonly Window[], figure: 'accruedNj' | 'chargedNs'): bigint =>
  windows.reduce((total, window) => total + window[figure], 0n)
const absolute = (value: bigint): bigint => (value < 0n ? -value : value)
