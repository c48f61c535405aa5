import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj } from '#base/units.ts'
import { REST, sumOfShares, splitReading, type CellUse } from './window.ts'

// A million splits take a minute: ERGON_LONG=1 runs them, the normal run two thousand.
const RUNS = process.env['ERGON_LONG'] === '1' ? 1_000_000 : 2000

const operator = { kind: 'operator' } as const
const cell = (name: string, cpuNs: bigint, reservedPpb?: number): CellUse => ({
  name,
  payer: operator,
  cpuNs,
  ...(reservedPpb === undefined ? {} : { reservedPpb }),
})

const cells = fc.array(
  fc.record({
    name: fc.constant('cell'),
    payer: fc.constant(operator),
    cpuNs: fc.oneof(fc.constant(0n), fc.bigInt(0n, 5_000_000_000n)),
    reservedPpb: fc.integer({ min: 0, max: 1_000_000_000 }),
  }),
  { maxLength: 60, size: 'max' },
)
const windows = fc.record({
  readingNj: fc.oneof(fc.bigInt(0n, 50n), fc.bigInt(0n, 30_000_000_000_000n)).map(nj),
  idleDrawNj: fc.bigInt(0n, 10_000_000_000_000n).map(nj),
  busyNs: fc.oneof(fc.constant(0n), fc.bigInt(0n, 64_000_000_000n)),
  cells,
})

test('splitReading() gives out exactly the reading, whatever the window', () => {
  fc.assert(
    fc.property(windows, (window) => {
      const split = splitReading(window)
      assert.equal(sumOfShares(split.shares), window.readingNj)
      assert.equal(split.idleNj + split.dynamicNj, window.readingNj)
      assert.equal(
        split.shares.reduce((total, share) => total + share.cpuNs, 0n),
        split.busyNs,
      )
      for (const share of split.shares) assert.ok(share.dynamicNj >= 0n && share.idleNj >= 0n)
    }),
    { numRuns: RUNS },
  )
})

test('splitReading() is within one nanojoule of proportion for each share', () => {
  fc.assert(
    fc.property(windows, (window) => {
      const split = splitReading(window)
      if (split.busyNs === 0n) return
      for (const share of split.shares) {
        const exactly = split.dynamicNj * share.cpuNs
        const given = share.dynamicNj * split.busyNs
        const off = exactly > given ? exactly - given : given - exactly
        assert.ok(off < split.busyNs, `${share.dynamicNj} of ${split.dynamicNj}`)
      }
    }),
    { numRuns: 1000 },
  )
})

test('splitReading() gives the operator what no cell used and no cell reserved', () => {
  const split = splitReading({
    readingNj: nj(1100n),
    idleDrawNj: nj(100n),
    busyNs: 1000n,
    cells: [cell('db', 250n, 300_000_000), cell('fn', 250n)],
  })
  assert.deepEqual(
    split.shares.map((share) => [share.name, share.dynamicNj, share.idleNj]),
    [
      ['db', 250n, 30n],
      ['fn', 250n, 0n],
      [REST, 500n, 70n],
    ],
  )
})

test('splitReading() rounds the idle parts of cells down', () => {
  fc.assert(
    fc.property(windows, (window) => {
      const split = splitReading(window)
      const all = window.cells.reduce((total, { reservedPpb }) => total + BigInt(reservedPpb), 0n)
      const whole = all > 1_000_000_000n ? all : 1_000_000_000n
      for (const [nth, { reservedPpb }] of window.cells.entries()) {
        const exactly = split.idleNj * BigInt(reservedPpb)
        const given = (split.shares[nth]?.idleNj ?? 0n) * whole
        assert.ok(given <= exactly && exactly - given < whole)
      }
    }),
    { numRuns: 1000 },
  )
})

test('splitReading() believes the cells when they used more than the machine counted', () => {
  const split = splitReading({
    readingNj: nj(900n),
    idleDrawNj: nj(0n),
    busyNs: 100n,
    cells: [cell('a', 200n), cell('b', 100n)],
  })
  assert.equal(split.busyNs, 300n)
  assert.deepEqual(
    split.shares.map((share) => share.dynamicNj),
    [600n, 300n, 0n],
  )
})

test('splitReading() gives the operator the dynamic part of a window in which nothing was busy', () => {
  const split = splitReading({ readingNj: nj(70n), idleDrawNj: nj(20n), busyNs: 0n, cells: [] })
  assert.equal(split.njPerCpuS, 0n)
  assert.deepEqual(
    split.shares.map((share) => [share.dynamicNj, share.idleNj]),
    [[50n, 20n]],
  )
})
