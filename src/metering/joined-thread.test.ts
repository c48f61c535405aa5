// CPU of a second thread of a process: what its reports claim and what marks of the first thread charge are together the
// clock of the process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMarks, type MarkOwner } from './marks.ts'
import type { ThreadCounter } from './own-cpu.ts'

/** A process of two threads whose clocks the test moves: `mark` is called on the first. */
function twoThreads() {
  let firstNs = 0
  let secondNs = 0
  let countedNs = 0
  let counts = false
  const marks = createMarks({ cpuNs: () => firstNs + secondNs, ownNs: () => firstNs })
  const counter: ThreadCounter = { counts: () => counts, countedNs: () => countedNs }
  return {
    marks,
    counter,
    first: (ns: number) => (firstNs += ns),
    second: (ns: number) => (secondNs += ns),
    starts: () => (counts = true),
    count: (ns: number) => (countedNs += ns),
    readNs: () => firstNs + secondNs,
  }
}

test('a joined thread starts at the expense of the operator, not of who marks meanwhile', () => {
  const { marks, counter, first, second, starts, count } = twoThreads()
  const [neighbour, payer]: MarkOwner[] = [{ cpuNs: 0 }, { cpuNs: 0 }]
  assert.ok(neighbour && payer)
  const thread = marks.join(counter)
  first(3000)
  second(60_000_000)
  marks.mark(neighbour)
  assert.deepEqual([neighbour.cpuNs, marks.operator.cpuNs], [3000, 60_000_000])
  // It begins to count, and counts a batch, before anybody marks again.
  second(5_000_000)
  starts()
  second(850_000)
  count(850_000)
  thread.claim(payer, 850_000)
  first(2000)
  marks.mark(neighbour)
  assert.deepEqual(
    [neighbour.cpuNs, payer.cpuNs, marks.operator.cpuNs],
    [5000, 850_000, 65_000_000],
  )
})

test('a marker is charged nothing that a thread counted, claimed or not', () => {
  const { marks, counter, first, second, starts, count } = twoThreads()
  const [neighbour, payer]: MarkOwner[] = [{ cpuNs: 0 }, { cpuNs: 0 }]
  assert.ok(neighbour && payer)
  const thread = marks.join(counter)
  starts()
  first(1000)
  marks.mark(marks.operator)
  for (let batch = 1; batch <= 10; batch++) {
    second(850_000)
    count(850_000)
    first(1000)
    marks.mark(neighbour)
    assert.equal(neighbour.cpuNs, batch * 1000)
  }
  assert.equal(payer.cpuNs, 0)
  thread.claim(payer, 8_500_000)
  assert.equal(payer.cpuNs, 8_500_000)
})

test('a joined thread that left gives the operator what nobody claimed, and another may join', () => {
  const { marks, counter, first, second, starts, count } = twoThreads()
  const payer: MarkOwner = { cpuNs: 0 }
  const thread = marks.join(counter)
  assert.throws(() => marks.join(counter), /one thread joins at a time/)
  starts()
  marks.mark(marks.operator)
  second(900_000)
  count(900_000)
  thread.claim(payer, 400_000)
  second(50_000)
  first(1000)
  thread.leave()
  thread.leave()
  // A report that was read too late.
  thread.claim(payer, 500_000)
  assert.deepEqual([payer.cpuNs, marks.operator.cpuNs], [400_000, 551_000])
  marks.join(counter)
})

/** The events of a process with a joined thread: spender and duration. */
const events = fc.array(
  fc.record({
    kind: fc.constantFrom('first', 'second', 'batch', 'read', 'mark'),
    who: fc.nat(3),
    ns: fc.nat(2_000_000).map((us) => us * 1000),
  }),
  { maxLength: 200 },
)
type Event = { readonly kind: string; readonly who: number; readonly ns: number }

/**
 * Runs the events: CPU of either thread, ends of batches, their reports read in order, marks. Returns who
 * was charged what, what they should have been, and the longest batch.
 */
function charged(run: readonly Event[], plant: { claims: number }) {
  const process = twoThreads()
  const { marks } = process
  const thread = marks.join(process.counter)
  process.starts()
  process.first(1000)
  marks.mark(marks.operator)
  const owners = Array.from({ length: 4 }, (): MarkOwner => ({ cpuNs: 0 }))
  const ownerOf = (who: number) => owners[who] ?? marks.operator
  const exact = owners.map(() => 0)
  const reports: { who: number; ns: number }[] = []
  let batchNs = 0
  let longestNs = 0
  let sinceMarkNs = 0
  const end = (who: number) => {
    process.count(batchNs)
    reports.push({ who, ns: batchNs })
    exact[who] = (exact[who] ?? 0) + batchNs
    longestNs = Math.max(longestNs, batchNs)
    batchNs = 0
  }
  const read = () => {
    const report = reports.shift()
    for (let i = 0; report !== undefined && i < plant.claims; i++)
      thread.claim(ownerOf(report.who), report.ns)
  }
  const mark = (who: number) => {
    marks.mark(ownerOf(who))
    exact[who] = (exact[who] ?? 0) + sinceMarkNs
    sinceMarkNs = 0
  }
  for (const { kind, who, ns } of run) {
    if (kind === 'first') sinceMarkNs += process.first(ns) && ns
    else if (kind === 'second') batchNs += process.second(ns) && ns
    else if (kind === 'batch') end(who)
    else if (kind === 'read') read()
    else mark(who)
  }
  end(0)
  while (reports.length > 0) read()
  // Work of the first thread, so that what was charged too early is made up for.
  sinceMarkNs += process.first(longestNs + 1000) && longestNs + 1000
  mark(0)
  const beforeLeaving = owners.map(({ cpuNs }) => cpuNs)
  thread.leave()
  const sum = owners.reduce((total, { cpuNs }) => total + cpuNs, marks.operator.cpuNs)
  return {
    sum,
    totalNs: marks.totalNs,
    readNs: process.readNs(),
    beforeLeaving,
    exact,
    longestNs,
    marks,
  }
}

test('claims and marks together are the clock of the process, whatever happens in what order', () => {
  fc.assert(
    fc.property(events, (run) => {
      const { sum, totalNs, readNs, marks } = charged(run, { claims: 1 })
      assert.equal(sum, totalNs)
      assert.equal(sum, readNs)
      assert.equal(marks.operator.cpuNs, 1000)
    }),
  )
})

for (const [name, claims] of [
  ['a batch that is never claimed', 0],
  ['a batch that is claimed twice', 2],
] as const)
  test(`a planted fault of marks is found: ${name}`, () => {
    const run = [
      { kind: 'second', who: 1, ns: 850_000 },
      { kind: 'batch', who: 1, ns: 0 },
      { kind: 'second', who: 2, ns: 850_000 },
      { kind: 'batch', who: 2, ns: 0 },
    ]
    const honest = charged(run, { claims: 1 })
    assert.deepEqual(honest.beforeLeaving, honest.exact)
    const planted = charged(run, { claims })
    assert.notDeepEqual(planted.beforeLeaving, planted.exact)
    // Whatever is claimed, never more is charged than the process used.
    assert.equal(planted.sum, planted.readNs)
  })

test('a marker pays at most the batch that is being summed, and the next ones make up for it', () => {
  const { marks, counter, first, second, starts, count } = twoThreads()
  const [early, next, payer] = Array.from({ length: 3 }, (): MarkOwner => ({ cpuNs: 0 }))
  assert.ok(early && next && payer)
  const thread = marks.join(counter)
  starts()
  first(1000)
  marks.mark(marks.operator)
  second(600_000)
  first(10_000)
  marks.mark(early)
  second(250_000)
  count(850_000)
  thread.claim(payer, 850_000)
  first(700_000)
  marks.mark(next)
  assert.deepEqual([early.cpuNs, next.cpuNs, payer.cpuNs], [610_000, 100_000, 850_000])
})

test('a batch that the clock had shown before takes nothing from the ones behind it', () => {
  const { marks, counter, first, second, starts, count } = twoThreads()
  const [early, slow, next] = Array.from({ length: 3 }, (): MarkOwner => ({ cpuNs: 0 }))
  assert.ok(early && slow && next)
  const thread = marks.join(counter)
  starts()
  first(1000)
  marks.mark(marks.operator)
  second(21_000_000)
  marks.mark(early)
  count(21_000_000)
  thread.claim(slow, 21_000_000)
  first(1000)
  marks.mark(marks.operator)
  second(2_000_000)
  count(2_000_000)
  thread.claim(next, 2_000_000)
  marks.mark(marks.operator)
  assert.deepEqual([early.cpuNs, slow.cpuNs, next.cpuNs], [21_000_000, 1000, 2_000_000])
})
