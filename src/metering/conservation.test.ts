// The claim that the product stands on, and the two ways in which others break it. One harness bills
// the same concurrent work by marks and by the planted methods; it must see both faults.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { nj, printDecimal, sum, type Nj } from '#base/units.ts'
import { createMarks, type MarkOwner } from './marks.ts'
import { sumOfShares, splitReading } from './window.ts'

const BLOCK = Buffer.alloc(16_384, 7)
const CONCURRENT = 16
const cpuNs = () => {
  const usage = process.cpuUsage()
  return (usage.user + usage.system) * 1000
}

/** Bills one piece of work; called at its start, returns what to call at its end. */
type Biller = (owner: MarkOwner) => () => void

/** Runs interleaved work in this process; the reading is its CPU from first to last. */
async function bill(marks: ReturnType<typeof createMarks>, biller: Biller) {
  const owners = await Promise.all(
    Array.from({ length: CONCURRENT }, async () => {
      const owner: MarkOwner = { cpuNs: 0 }
      const end = biller(owner)
      for (let slice = 0; slice < 4; slice++) {
        await turn()
        for (let i = 0; i < 10; i++) createHash('sha256').update(BLOCK).digest()
        marks.mark(owner)
      }
      end()
      return owner
    }),
  )
  marks.mark(marks.operator)
  return { reading: marks.totalNs, owners }
}

test('marks bill exactly what the meter read, at sixteen requests at once', async () => {
  const marks = createMarks()
  const { reading, owners } = await bill(marks, () => () => {})
  const billed = owners.reduce((total, owner) => total + owner.cpuNs, marks.operator.cpuNs)
  assert.equal(billed, reading)
})

test('planted: start and end deltas of the meter bill far more than it read', async () => {
  let billed = 0
  const { reading } = await bill(createMarks(), () => {
    const start = cpuNs()
    return () => {
      billed += cpuNs() - start
    }
  })
  // Every request's span covers nearly all of the others: about sixteen-fold, at least four.
  assert.ok(billed > 4 * reading, `billed ${billed} of ${reading}`)
})

const windows = fc.record({
  reading: fc.bigInt(1n, 30_000_000_000n).map(nj),
  weights: fc.array(fc.bigInt(1n, 5_000_000_000n), { minLength: 2, maxLength: 30 }),
})

test('planted: shares rounded to three decimals of a joule do not add up', () => {
  let broken = 0
  let conserved = 0
  fc.assert(
    fc.property(windows, ({ reading, weights }) => {
      const cells = weights.map((cpu, index) => ({
        name: `cell-${index}`,
        payer: { kind: 'operator' as const },
        cpuNs: cpu,
      }))
      const split = splitReading({ readingNj: reading, idleDrawNj: nj(0n), busyNs: 0n, cells })
      assert.equal(sumOfShares(split.shares), reading)
      conserved++
      if (sum(split.shares.map((share) => toMillijoules(share.dynamicNj))) !== reading) broken++
    }),
    { numRuns: 500, seed: 7 },
  )
  assert.equal(conserved, 500)
  assert.ok(broken > 490, `${broken} of 500 windows`)
})

/** A share as a header with three decimals would state it. */
const toMillijoules = (energy: Nj): Nj =>
  nj(BigInt(Math.round(Number(printDecimal(energy, 9)) * 1000)) * 1_000_000n)
