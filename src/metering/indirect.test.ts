// The learner alone: the rate of rest. charging/indirect.test.ts tests the bills that gateways make by its rates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATIONS } from '#contract/operations.ts'
import { createIndirectLearner, NO_ACTIVITY } from './indirect.ts'

const MS = 1_000_000

test('work that requests have left is no rest', () => {
  const learner = createIndirectLearner()
  let requests = 0
  let activeSeconds = 0
  const window = (cpuMs: number, more = 0) => {
    requests += more
    if (more > 0) activeSeconds++
    const operations = new Map([['storage.put-object', { requests, ownNs: 4 * MS * requests }]])
    learner.observe({
      elapsedNs: 1_000_000_000n,
      cpuNs: BigInt(cpuMs * MS),
      chargedNs: 0n,
      activity: { ...NO_ACTIVITY, operations, activeSeconds },
    })
  }
  for (let second = 0; second < 20; second++) window(30)
  for (let load = 0; load < 10; load++) {
    for (let second = 0; second < 10; second++) window(300, 100)
    // A seal and commits.
    for (let second = 0; second < 5; second++) window(150)
  }
  const busy = learner.rates().rest.value / MS
  assert.ok(busy > 25 && busy < 35, `${busy} ms`)
  for (let second = 0; second < 60; second++) window(60)
  const calm = learner.rates().rest.value / MS
  assert.ok(calm > 50 && calm < 65, `what lasts is followed: ${calm} ms`)
})

// Charges of a load are audited and bundled, and tables are vacuumed, for some 20 s after its end.
test('loads that follow each other do not teach a rest that is too high', () => {
  const learner = createIndirectLearner()
  let requests = 0
  let activeSeconds = 0
  const run = (seconds: number, cpuMs: number, perSecond: number) => {
    for (let second = 0; second < seconds; second++) {
      requests += perSecond
      if (perSecond > 0) activeSeconds++
      const operations = new Map([['storage.put-object', { requests, ownNs: 4 * MS * requests }]])
      learner.observe({
        elapsedNs: 1_000_000_000n,
        cpuNs: BigInt(cpuMs * MS),
        chargedNs: 0n,
        activity: { ...NO_ACTIVITY, operations, activeSeconds },
      })
    }
  }
  run(60, 13, 0)
  for (let load = 0; load < 12; load++) {
    run(37, 300, 100)
    run(18, 110, 0)
  }
  const restMs = learner.rates().rest.value / MS
  assert.ok(restMs > 10 && restMs < 16, `${restMs} ms`)
})

test('every operation of the contract is learned, however many were asked for before', () => {
  const learner = createIndirectLearner()
  const usage = new Map<string, { requests: number; ownNs: number }>()
  const names = Object.keys(OPERATIONS)
  for (const [nth, name] of names.entries()) {
    usage.set(name, { requests: 50, ownNs: 100 * MS })
    for (let second = 1; second <= 5; second++)
      learner.observe({
        elapsedNs: 1_000_000_000n,
        cpuNs: BigInt(200 * MS),
        chargedNs: 0n,
        activity: { ...NO_ACTIVITY, operations: new Map(usage), activeSeconds: 5 * nth + second },
      })
  }
  const unknown = names.filter((name) => learner.rates().operations[name] === undefined)
  assert.deepEqual(unknown, [])
})

test('credit that nobody is billed for goes with the seconds, so that later callers do not pay it', () => {
  const learner = createIndirectLearner()
  let requests = 0
  const window = (cpuMs: number, more = 0) => {
    requests += more
    learner.observe({
      elapsedNs: 1_000_000_000n,
      cpuNs: BigInt(cpuMs * MS),
      chargedNs: 0n,
      activity: {
        ...NO_ACTIVITY,
        operations: new Map([['storage.put-object', { requests, ownNs: 4 * MS * requests }]]),
        activeSeconds: requests / 100,
        rateNs: BigInt(3 * MS * requests),
      },
    })
  }
  for (let second = 0; second < 20; second++) window(30)
  for (let second = 0; second < 20; second++) window(330, 100)
  const { creditNs } = learner
  assert.ok(creditNs > 200 * MS, String(creditNs))
  for (let second = 0; second < 30; second++) window(30)
  assert.ok(learner.creditNs < creditNs / 10, String(learner.creditNs))
})
