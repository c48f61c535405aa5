import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { NO_GPU } from './gpu-timer.ts'
import { createStepClock, type CpuAccount, type StepShare } from './step-clock.ts'
import { weightOf } from './step-weights.ts'

/** A clock over hand-moved CPU counters. */
function rig() {
  const state = { processNs: 5_000n, wallNs: 0n, shares: [] as StepShare[], own: [] as StepShare[] }
  const clock = createStepClock({
    processNs: () => state.processNs,
    wallNs: () => state.wallNs,
    shares: () => state.shares.splice(0),
    own: () => state.own.splice(0),
  })
  const step = (ns: bigint, shares: StepShare[]) => {
    state.processNs += ns
    state.shares = shares
    clock.settle()
  }
  return { state, clock, step }
}

describe('createStepClock()', () => {
  it('splits a step by weight and loses no nanosecond', () => {
    const { clock, step } = rig()
    const [a, b, c] = [clock.open(), clock.open(), clock.open()]
    step(100n, [
      { account: a, weight: 1n },
      { account: b, weight: 1n },
      { account: c, weight: 1n },
    ])
    assert.deepEqual([a.cpuNs, b.cpuNs, c.cpuNs], [34n, 33n, 33n])
  })

  it('gives what runs between steps to those of the step before', () => {
    const { clock, step } = rig()
    const a = clock.open()
    step(100n, [{ account: a, weight: 1n }])
    step(20n, [])
    assert.equal(a.cpuNs, 120n)
  })

  it('leaves unclaimed what runs when nobody is open', () => {
    const { clock, step } = rig()
    const a = clock.open()
    step(100n, [{ account: a, weight: 1n }])
    clock.close(a)
    step(50n, [])
    assert.equal(a.cpuNs, 100n)
    assert.deepEqual(clock.totals(), { processNs: 150n, attributedNs: 100n })
  })

  it('charges own work to its request alone, not to those of the running step', () => {
    const { clock, step, state } = rig()
    const [running, reading] = [clock.open(), clock.open()]
    step(100n, [{ account: running, weight: 1n }])
    clock.own(reading, () => {
      // Another thread decodes meanwhile.
      state.wallNs += 30n
      state.processNs += 50n
    })
    step(10n, [])
    assert.deepEqual([running.cpuNs, reading.cpuNs], [130n, 30n])
  })

  it('gives what a request measured of itself to it alone, at most what was spent', () => {
    const { clock, step, state } = rig()
    const [plain, held] = [clock.open(), clock.open()]
    const both = [plain, held].map((account) => ({ account, weight: 1n }))
    step(100n, both)
    state.own = [{ account: held, weight: 70n }]
    step(90n, [])
    assert.deepEqual([plain.cpuNs, held.cpuNs], [60n, 130n])
    state.own = [{ account: held, weight: 1_000n }]
    step(50n, [])
    assert.deepEqual([plain.cpuNs, held.cpuNs], [60n, 180n])
    assert.equal(clock.totals().attributedNs, 240n)
  })

  it('counts own work that throws', () => {
    const { clock, state } = rig()
    const account = clock.open()
    const fail = () => {
      state.wallNs += 40n
      state.processNs += 30n
      throw new RangeError('refused')
    }
    assert.throws(() => clock.own(account, fail), RangeError)
    assert.equal(account.cpuNs, 30n)
  })

  it('never attributes more than the process spent, whatever happens', () => {
    const action = fc.record({
      kind: fc.constantFrom('step', 'own', 'close'),
      ns: fc.bigInt(0n, 10n ** 9n),
      wallNs: fc.bigInt(0n, 10n ** 9n),
      who: fc.nat(3),
      weights: fc.array(fc.bigInt(1n, 10n ** 12n), { minLength: 1, maxLength: 4 }),
    })
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { clock, step, state } = rig()
        const accounts: CpuAccount[] = Array.from({ length: 4 }, () => clock.open())
        for (const { kind, ns, wallNs, who, weights } of actions) {
          const account = accounts[who] ?? clock.open()
          if (kind === 'close') clock.close(account)
          else if (kind === 'step') {
            const shares = weights.map((weight, index) => ({
              account: accounts[index] ?? account,
              weight,
            }))
            step(ns, shares)
          } else {
            clock.own(account, () => {
              state.wallNs += wallNs
              state.processNs += ns
            })
          }
        }
        const { processNs, attributedNs } = clock.totals()
        const sum = accounts.reduce((total, account) => total + account.cpuNs, 0n)
        assert.equal(sum, attributedNs)
        assert.ok(attributedNs <= processNs)
      }),
    )
  })
})

describe('weightOf()', () => {
  const tokens = { input: 0, output: 1, position: 10, probabilities: false }

  it('grows with the position of a generated token', () => {
    const ratio = Number(weightOf({ ...tokens, position: 1500 })) / Number(weightOf(tokens))
    assert.ok(ratio > 2.4 && ratio < 2.7, `measured 26.4 : 10.5 ms, weighted ${ratio}`)
  })

  it('counts the last token of a prompt as a prompt token', () => {
    const step = { input: 63, output: 1, position: 64, probabilities: false }
    assert.equal(weightOf(step), weightOf({ ...step, input: 64, output: 0 }))
  })

  it('adds the price of probabilities', () => {
    assert.ok(weightOf({ ...tokens, probabilities: true }) > 2n * weightOf(tokens))
  })
})

describe('createStepClock() on a GPU', () => {
  it('splits the time of a step by the weights of the step, to the last nanosecond', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(9), fc.nat(9), fc.nat(1000)), { maxLength: 30 }),
        (steps) => {
          let pending = 0n
          let shares: StepShare[] = []
          const gpu = { ...NO_GPU, isUsed: true, takeNs: () => pending }
          const sources = { processNs: () => 0n, wallNs: () => 0n, shares: () => shares, gpu }
          const clock = createStepClock(sources)
          const accounts = [clock.open(), clock.open()]
          let all = 0n
          for (const [a, b, ns] of steps) {
            pending = BigInt(ns)
            all += pending
            shares = [a, b].flatMap((weight, index) => {
              const account = accounts[index]
              return account === undefined || weight === 0
                ? []
                : [{ account, weight: BigInt(weight) }]
            })
            clock.settle()
          }
          assert.equal(clock.gpuNs?.(), all)
          const first = steps.findIndex(([a, b]) => a + b > 0)
          const owned = first < 0 ? [] : steps.slice(first)
          const given = accounts.reduce((sum, { gpuNs }) => sum + gpuNs, 0n)
          assert.equal(
            given,
            owned.reduce((sum, [, , ns]) => sum + BigInt(ns), 0n),
          )
        },
      ),
    )
  })

  it('says nothing of a GPU without one', () => {
    const sources = { processNs: () => 0n, wallNs: () => 0n, shares: () => [], gpu: NO_GPU }
    assert.equal(createStepClock(sources).gpuNs, undefined)
  })
})
