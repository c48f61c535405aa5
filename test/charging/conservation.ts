// The claim that the product stands on, on the product: the bill equals the meter (DESIGN, 1.1). The real
// default model answers clients at once; everything is computed from ledger and windows. ERGON_LONG=1
// takes a minute for each load.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { printJoules, nj } from '#base/units.ts'
import { REST, type MeterWindow } from '#metering/window.ts'
import { bookFaults } from '../books.ts'
import { chatFor, type ChatCounts } from '../chat-load.ts'
import { spanOf, type Span } from './energy-span.ts'
import { sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'

const LONG_MS = process.env['ERGON_LONG'] === '1' ? 60_000 : undefined
// A sensor's tariff follows the machine over some windows: in 1.5 s on one core, with all other tests beside
// them, a bill was 7 % off.
const TRUE_UP_PERCENT_MAX = LONG_MS === undefined ? 10n : 2n
/** `forMs`: how long clients go on asking; each asks once at least, and 8 of them are all kinds of asking. */
export type Loads = readonly {
  readonly concurrent: number
  readonly maxTokens: number
  readonly forMs: number
}[]

/** Tests of the product of this file at each load; `linear`: its meter is a model that is linear. */
export function testConservation(model: string, loads: Loads, linear: boolean): void {
  let ergon: Ergon
  before(async () => {
    ergon = sharedErgon()
    await ergon.waitForModel(model)
  })
  for (const { concurrent, maxTokens, forMs } of loads)
    test(`the bill equals the meter at ${concurrent} at once`, async (t) => {
      let counts: ChatCounts | undefined
      const span = await spanOf(ergon, async () => {
        counts = await chatFor(ergon, { concurrent, maxTokens, forMs: LONG_MS ?? forMs })
      })
      for (const line of report(span, counts)) t.diagnostic(line)
      assertConserved(span)
      if (linear) assert.ok(span.billedNj <= allCells(span.windows).dynamicNj)
      else assertMeasured(span)
      assertServed(span, counts)
      assert.deepEqual(await bookFaults(ergon), [])
      // Planted: start and end readings of the meter, as a peer bills, must not pass the first line.
      if (concurrent > 1) {
        const deltasNj = billByDeltas(span)
        assert.ok(deltasNj > span.readingNj, `${deltasNj} of ${span.readingNj}`)
      }
    })
}

function assertConserved({ windows, readingNj, billedNj, operatorNj }: Span): void {
  assert.ok(billedNj > 0n && billedNj <= readingNj)
  assert.ok(isTrue(trueUpOf(windows), readingNj), `true-up ${trueUpOf(windows)} of ${readingNj}`)
  // Planted: requests pay for the rest of the machine too.
  const all = windows.map((window) => ({ ...window, accruedNj: window.readingNj }))
  assert.ok(!isTrue(trueUpOf(all), readingNj), 'a bill of the whole reading would not be noticed')
  assert.equal(operatorNj, readingNj - billedNj)
  // The meter's sum of bills is the ledger's, to the last nanojoule.
  assert.equal(sumOf(windows, 'accruedNj'), billedNj)
  // Two counters that do not know of each other: marks and claims, and the kernel's of the cells.
  assert.ok(sumOf(windows, 'chargedNs') <= allCells(windows).cpuNs)
}

const isTrue = (offNj: bigint, readingNj: bigint): boolean =>
  absolute(offNj) * 100n <= readingNj * TRUE_UP_PERCENT_MAX

/** A sensor on a curve: the tariff follows it, so that the true-up is not 0 by construction. */
function assertMeasured({ windows }: Span): void {
  assert.ok(windows.some(({ method }) => method === 'plug'))
  assert.ok(new Set(windows.map(({ tariffNjPerCpuS }) => tariffNjPerCpuS)).size > 1)
  assert.notEqual(trueUpOf(windows), 0n)
}

/** Each answer that a client saw has one charge. */
function assertServed({ charges }: Span, counts: ChatCounts | undefined): void {
  const { receipts = [], streamed = 0, left = 0 } = counts ?? {}
  const served = charges.filter(
    ({ operation, status }) => operation === 'chat.create' && (status === 200 || status === 499),
  )
  assert.equal(served.length, receipts.length + streamed + left)
  const known = new Set(served.map((charge) => charge.id))
  assert.deepEqual(
    receipts.filter((receipt) => !known.has(receipt)),
    [],
  )
}

/** The bill less the same CPU time's part of each window's dynamic energy. */
function trueUpOf(windows: readonly MeterWindow[]): bigint {
  let offNj = 0n
  for (const { accruedNj, chargedNs, readingNj, idleNj, busyNs } of windows)
    offNj += accruedNj - (busyNs === 0n ? 0n : (chargedNs * (readingNj - idleNj)) / busyNs)
  return offNj
}

/**
 * The CPU of all cells and their part of the dynamic energy: a request pays for the CPU that it causes in each cell.
 */
const allCells = (windows: readonly MeterWindow[]): { cpuNs: bigint; dynamicNj: bigint } =>
  windows
    .flatMap((window) => window.shares)
    .filter(({ name }) => name !== REST)
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

function report(span: Span, counts: ChatCounts | undefined): string[] {
  const { readingNj, billedNj, windows, charges } = span
  const of = (energy: bigint) =>
    `${printJoules(nj(energy))} J (${(Number(energy * 10_000n) / Number(readingNj) / 100).toFixed(3)} % of the reading)`
  return [
    `${windows.length} windows read ${printJoules(nj(readingNj))} J; ${charges.length} charges: ` +
      `${counts?.receipts.length} whole, ${counts?.streamed} streamed, ${counts?.left} left, ` +
      `refused ${JSON.stringify([...(counts?.refused ?? [])])}`,
    `billed ${of(billedNj)}, the operator's own share ${of(readingNj - billedNj)}`,
    `true-up ${of(trueUpOf(windows))}`,
    `charged ${sumOf(windows, 'chargedNs')} of the cells' ${allCells(windows).cpuNs} ns of CPU`,
    `planted start/end deltas would bill ${of(billByDeltas(span))}`,
  ]
}

const sumOf = (windows: readonly MeterWindow[], figure: 'accruedNj' | 'chargedNs'): bigint =>
  windows.reduce((total, window) => total + window[figure], 0n)
const absolute = (value: bigint): bigint => (value < 0n ? -value : value)
