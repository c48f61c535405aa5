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
