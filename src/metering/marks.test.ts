import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { createMarks, type MarkOwner } from './marks.ts'
import type { ThreadCounter } from './own-cpu.ts'

const BLOCK = Buffer.alloc(16_384, 7)
const work = (units: number) => {
  for (let i = 0; i < units; i++) createHash('sha256').update(BLOCK).digest()
}

test('mark() charges what passed since the last mark to the one who marks', () => {
  let now = 5000
  const marks = createMarks({ cpuNs: () => now })
  const a: MarkOwner = { cpuNs: 0 }
  const b: MarkOwner = { cpuNs: 0 }
  now += 3000
  marks.mark(a)
  now += 1000
  marks.mark(marks.operator)
  now += 7000
  marks.mark(b)
  marks.mark(a)
  assert.deepEqual(
    [a.cpuNs, b.cpuNs, marks.operator.cpuNs, marks.totalNs],
    [3000, 7000, 1000, 11000],
  )
})

test('mark() conserves under any interleaving and any steps of the clock', () => {
  const steps = fc.array(
    fc.tuple(
      fc.nat(5),
      fc.nat(10_000_000).map((us) => us * 1000),
    ),
  )
  fc.assert(
    fc.property(
      steps,
      fc.nat(50).map((days) => days * 86_400_000_000_000),
      (turns, start) => {
        let now = start
        const marks = createMarks({ cpuNs: () => now })
        const owners = Array.from({ length: 5 }, (): MarkOwner => ({ cpuNs: 0 }))
        for (const [who, step] of turns) {
          now += step
          marks.mark(owners[who] ?? marks.operator)
        }
        const charged = owners.reduce((total, owner) => total + owner.cpuNs, marks.operator.cpuNs)
        assert.equal(charged, marks.totalNs)
        assert.equal(charged, now - start)
      },
    ),
  )
})

test('mark() never charges a negative time', () => {
  let now = 10_000
  const marks = createMarks({ cpuNs: () => now })
  const owner: MarkOwner = { cpuNs: 0 }
  now = 9000
  marks.mark(owner)
  assert.equal(owner.cpuNs, 0)
  now = 12_000
  marks.mark(owner)
  assert.equal(owner.cpuNs, 2000)
})

test('marks of concurrent work add up to the CPU of the process', async () => {
  const before = process.cpuUsage()
  const marks = createMarks()
  const owners = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const owner: MarkOwner = { cpuNs: 0 }
      for (let slice = 0; slice < 6; slice++) {
        await turn()
        work(4)
        marks.mark(owner)
      }
      return owner
    }),
  )
  marks.mark(marks.operator)
  const after = process.cpuUsage(before)
  const charged = owners.reduce((total, owner) => total + owner.cpuNs, marks.operator.cpuNs)
  assert.equal(charged, marks.totalNs)
  for (const owner of owners) assert.ok(owner.cpuNs > 0)
  // The process's own figures before and after enclose what was charged.
  assert.ok(charged <= (after.user + after.system) * 1000)
  assert.ok(charged >= owners.reduce((total, owner) => total + owner.cpuNs, 0))
})

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

/** Marks whose CPU clock, wall clock and end of turn belong to the test. */
function scripted() {
  let [cpu, wall] = [0, 0]
  const ends: (() => void)[] = []
  const marks = createMarks({
    cpuNs: () => cpu,
    wallNs: () => wall,
    atTurnEnd: (fire) => void ends.push(fire),
  })
  return {
    marks,
    pass(more: { cpuNs?: number; wallNs?: number }) {
      cpu += more.cpuNs ?? 0
      wall += more.wallNs ?? 0
    },
    endTurn() {
      for (const fire of ends.splice(0)) fire()
    },
    get cpuNs() {
      return cpu
    },
  }
}
const owner = (): MarkOwner => ({ cpuNs: 0 })

test('markLater() splits the CPU of a turn by its wall time, and conserves', () => {
  const { marks, pass, endTurn } = scripted()
  const [a, b, c, d] = [owner(), owner(), owner(), owner()]
  // The loop waited before: the first mark of a turn is read.
  pass({ cpuNs: 5000, wallNs: 1_000_000 })
  marks.markLater(a)
  pass({ wallNs: 1000 })
  marks.markLater(b)
  pass({ wallNs: 3000 })
  let atEnd: number | undefined
  marks.markAtTurnEnd(c, () => (atEnd = c.cpuNs))
  pass({ cpuNs: 10_000, wallNs: 1000 })
  endTurn()
  assert.deepEqual([a.cpuNs, b.cpuNs, c.cpuNs, atEnd], [5000, 2000, 6000, 6000])
  // The CPU after the last mark of a turn is charged to the next mark.
  pass({ cpuNs: 1000 })
  marks.mark(d)
  assert.deepEqual([d.cpuNs, marks.totalNs], [3000, 16_000])
})

test('a slice in which the process was preempted takes nothing from the others', () => {
  const { marks, pass, endTurn } = scripted()
  const [first, short, preempted, last] = [owner(), owner(), owner(), owner()]
  marks.markLater(first)
  pass({ cpuNs: 100_000, wallNs: 100_000 })
  marks.markLater(short)
  pass({ cpuNs: 120_000, wallNs: 5_000_000 })
  marks.markLater(preempted)
  pass({ cpuNs: 80_000, wallNs: 80_000 })
  marks.markLater(last)
  endTurn()
  assert.deepEqual([short.cpuNs, preempted.cpuNs, last.cpuNs], [100_000, 120_000, 80_000])
})

test('markLater() and mark() in any order conserve', () => {
  const act = fc.record({
    who: fc.nat(4),
    kind: fc.constantFrom('now', 'later', 'end'),
    us: fc.nat(1000),
    ms: fc.double({ min: 0, max: 5, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(act), (acts) => {
      const turns = scripted()
      const { marks } = turns
      const owners = Array.from({ length: 5 }, owner)
      for (const { who, kind, us, ms } of acts) {
        turns.pass({ cpuNs: us * 1000, wallNs: ms * 1e6 })
        const one = owners[who] ?? marks.operator
        if (kind === 'now') marks.mark(one)
        else if (kind === 'later') marks.markLater(one)
        else turns.endTurn()
      }
      marks.mark(marks.operator)
      const charged = owners.reduce((total, { cpuNs }) => total + cpuNs, marks.operator.cpuNs)
      assert.equal(charged, turns.cpuNs)
      assert.equal(marks.totalNs, turns.cpuNs)
      assert.ok(owners.every(({ cpuNs }) => cpuNs >= 0))
    }),
  )
})
