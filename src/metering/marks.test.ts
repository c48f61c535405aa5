import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { createMarks, type MarkOwner } from './marks.ts'

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

test('markRead() gives a read its learned cost, and what came before to the next mark', () => {
  const { marks, pass, endTurn } = scripted()
  const [handler, neighbour] = [owner(), owner()]
  const { operator } = marks
  pass({ cpuNs: 5_000_000, wallNs: 9_000_000 })
  marks.markRead(operator)
  const ofReadNs = operator.cpuNs
  assert.ok(ofReadNs > 0 && ofReadNs <= 30_000, `${ofReadNs}`)
  // The same turn: another read, and work of somebody who marks then.
  pass({ cpuNs: 10_000, wallNs: 10_000 })
  marks.markRead(operator)
  pass({ cpuNs: 40_000, wallNs: 40_000 })
  marks.markLater(neighbour)
  endTurn()
  assert.equal(operator.cpuNs, ofReadNs + 10_000)
  // A turn that begins and ends with reads.
  pass({ cpuNs: 3_000_000 })
  marks.markRead(operator)
  pass({ cpuNs: 2_000_000, wallNs: 2_000_000 })
  marks.markRead(operator)
  endTurn()
  marks.mark(handler)
  assert.equal(neighbour.cpuNs, 40_000 + 5_000_000 - ofReadNs)
  assert.ok(handler.cpuNs > 4_900_000, `${handler.cpuNs}`)
  assert.equal(marks.totalNs, operator.cpuNs + handler.cpuNs + neighbour.cpuNs)
})

test('markRead() learns the cost of reads on a slow machine', () => {
  const { marks, pass, endTurn } = scripted()
  for (let turn = 0; turn < 100; turn++) {
    for (let nth = 0; nth < 3; nth++) {
      pass({ cpuNs: 100_000, wallNs: 100_000 })
      marks.markRead(marks.operator)
    }
    endTurn()
  }
  assert.ok(marks.operator.cpuNs > 28_000_000, `${marks.operator.cpuNs}`)
})

test('markLater() and mark() in any order conserve', () => {
  const act = fc.record({
    who: fc.nat(4),
    kind: fc.constantFrom('now', 'later', 'read', 'end'),
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
        else if (kind === 'read') marks.markRead(one)
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
