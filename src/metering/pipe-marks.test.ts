import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMarks } from './marks.ts'
import { createPipeMarks } from './pipe-marks.ts'

/** A process whose CPU the test sets. */
function processOf() {
  const clock = { cpuNs: 0 }
  return { clock, marks: createPipeMarks(createMarks({ cpuNs: () => clock.cpuNs })) }
}

test('all CPU is somebody’s once, whatever marks', () => {
  const act = fc.record({
    who: fc.nat({ max: 2 }),
    us: fc.nat({ max: 300 }),
    bytes: fc.nat({ max: 70_000 }),
    kind: fc.constantFrom('piece', 'mark', 'flush'),
  })
  fc.assert(
    fc.property(fc.array(act), (acts) => {
      const { clock, marks } = processOf()
      const owners = [{ cpuNs: 0 }, { cpuNs: 0 }, { cpuNs: 0 }]
      for (const { who, us, bytes, kind } of acts) {
        clock.cpuNs += us * 1000
        const owner = owners[who]
        if (owner === undefined || kind === 'flush') marks.flush()
        else if (kind === 'piece') marks.piece(owner, bytes)
        else marks.mark(owner)
      }
      marks.flush()
      const { operator } = marks.accounting
      const sum = owners.reduce((ns, owner) => ns + owner.cpuNs, operator.cpuNs)
      assert.equal(sum, marks.accounting.totalNs)
      for (const { cpuNs } of owners) assert.ok(Number.isSafeInteger(cpuNs) && cpuNs >= 0)
    }),
  )
})

test('two databases in turns pay their own part within 10 %, on a machine twice as slow too', () => {
  const { clock, marks } = processOf()
  const [small, large, login] = [{ cpuNs: 0 }, { cpuNs: 0 }, { cpuNs: 0 }]
  const truth = { small: 0, large: 0, login: 0 }
  for (let n = 0; n < 2000; n++) {
    clock.cpuNs += 25_000
    truth.small += 25_000
    marks.piece(small, 100)
    clock.cpuNs += 150_000
    truth.large += 150_000
    marks.piece(large, 64_000)
    if (n % 50 !== 49) continue
    clock.cpuNs += 500_000
    truth.login += 500_000
    marks.mark(login)
  }
  marks.flush()
  for (const [name, { cpuNs }] of Object.entries({ small, large, login })) {
    const part = cpuNs / truth[name as keyof typeof truth]
    assert.ok(part > 0.9 && part < 1.1, `${name}: ${part}`)
  }
})

test('pieces get their learned cost while work that nobody marks may be among them', () => {
  const { clock, marks } = processOf()
  const owner = { cpuNs: 0 }
  const relay = (count: number, silentNs: number) => {
    const beforeNs = owner.cpuNs
    for (let nth = 0; nth < count; nth++) {
      clock.cpuNs += 25_000 + silentNs
      marks.piece(owner, 100)
    }
    marks.flush()
    return owner.cpuNs - beforeNs
  }
  relay(2000, 0)
  marks.disturb(60_000)
  const beside = relay(160, 200_000)
  assert.ok(beside > 3_900_000 && beside < 4_100_000, `${beside} ns of 4,000,000`)
  const { accounting } = marks
  assert.equal(accounting.operator.cpuNs + owner.cpuNs, accounting.totalNs)
  // The cost is not learned meanwhile.
  marks.disturb(0)
  assert.equal(relay(160, 0), 4_000_000)
})
