import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Cell } from '#cells/cell.ts'
import { createCausedCpu, type CausedTotals } from './caused-cpu.ts'

const OPERATOR = { kind: 'operator' }
const cellOf = (name: string, payer: object = { kind: 'account', account: name }) =>
  ({ spec: { name, payer } }) as unknown as Cell

const sum = (all: Iterable<bigint>) => [...all].reduce((one, other) => one + other, 0n)

/** A proxy and two cells of accounts, whose counters and pages the test sets. */
function machine() {
  const [worker, a, b] = [cellOf('egress', OPERATOR), cellOf('fn-a-1'), cellOf('fn-b-1')]
  const cpuNs = new Map<Cell, bigint>([worker, a, b].map((cell) => [cell, 0n]))
  const caused = createCausedCpu()
  const use = (cell: Cell, ns: bigint) => cpuNs.set(cell, (cpuNs.get(cell) ?? 0n) + ns)
  const read = () => {
    const moved = caused.move(new Map(cpuNs))
    return [worker, a, b].map((cell) => moved.get(cell) ?? -1n)
  }
  return {
    worker,
    a,
    b,
    cpuNs,
    use,
    read,
    tell: (totals: CausedTotals) => caused.take(worker, cpuNs.get(worker) ?? 0n, totals),
  }
}

test('CPU that cells cause is moved to their readings once', () => {
  const { worker, a, use, read, tell } = machine()
  use(worker, 100n)
  use(a, 7n)
  tell({ 'fn-a-1': 60, 'fn-b-1': 30 })
  assert.deepEqual(read(), [10n, 67n, 30n])
  tell({ 'fn-a-1': 60, 'fn-b-1': 30 })
  assert.deepEqual(read(), [10n, 67n, 30n])
})

test('a worker that says more than it used owes the rest until it has used so much', () => {
  const { worker, use, read, tell } = machine()
  use(worker, 10n)
  tell({ 'fn-a-1': 25 })
  assert.deepEqual(read(), [0n, 10n, 0n])
  use(worker, 10n)
  assert.deepEqual(read(), [0n, 20n, 0n])
  use(worker, 10n)
  assert.deepEqual(read(), [5n, 25n, 0n])
})

test('CPU of a worker between its answer and the reading is of the next window, and of the same cell', () => {
  const { worker, use, read, tell } = machine()
  use(worker, 10n)
  tell({ 'fn-a-1': 10 })
  use(worker, 90n)
  assert.deepEqual(read(), [0n, 10n, 0n])
  tell({ 'fn-a-1': 100 })
  assert.deepEqual(read(), [0n, 100n, 0n])
  use(worker, 5n)
  assert.deepEqual(read(), [5n, 100n, 0n], 'it did not answer')
})

test('CPU caused by a cell that is gone, or that no account pays, is the operator’s', () => {
  const { worker, a, cpuNs, use, read, tell } = machine()
  cpuNs.delete(a)
  use(worker, 50n)
  tell({ 'fn-a-1': 20, egress: 20, toString: 3 })
  assert.deepEqual(read(), [50n, -1n, 0n])
})

test('a cell that the worker forgot, or whose worker began anew, is counted from nothing', () => {
  const { worker, use, read, tell } = machine()
  use(worker, 100n)
  tell({ 'fn-a-1': 40 })
  read()
  tell({})
  use(worker, 100n)
  tell({ 'fn-a-1': 30 })
  assert.deepEqual(read(), [130n, 70n, 0n])
  use(worker, 100n)
  tell({ 'fn-a-1': 5 })
  assert.deepEqual(read(), [225n, 75n, 0n])
})

test('whatever a worker says, readings add up to the counters and none falls', () => {
  const amount = fc.nat({ max: 1000 })
  const turn = fc.record({
    worker: amount,
    late: amount,
    a: amount,
    b: amount,
    saysA: amount,
    saysB: amount,
  })
  fc.assert(
    fc.property(fc.array(turn), (turns) => {
      const { worker, a, b, cpuNs, use, read, tell } = machine()
      let before = read()
      for (const one of turns) {
        use(worker, BigInt(one.worker))
        use(a, BigInt(one.a))
        use(b, BigInt(one.b))
        tell({ 'fn-a-1': one.saysA, 'fn-b-1': one.saysB })
        use(worker, BigInt(one.late))
        const now = read()
        assert.equal(sum(now), sum(cpuNs.values()) - BigInt(one.late))
        for (const [nth, ns] of now.entries()) assert.ok(ns >= (before[nth] ?? 0n))
        before = now
      }
    }),
  )
})
