import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createSamplings, TOKEN_CPU_NS_MAX } from './samplings.ts'
import type { CpuAccount } from './step-clock.ts'
import { createStepWatch, STUCK_TOKEN_CPU_MS, STEP_CPU_MS, Stuck } from './step-watch.ts'

const never = new Promise<never>(() => {})
const anAccount = (): CpuAccount => ({ cpuNs: 0n, gpuNs: 0n, open: true })

function rig(t: TestContext) {
  t.mock.method(globalThis, 'setInterval', () => ({ unref: () => undefined }) as never)
  const state = {
    cpuMs: 0,
    samplings: [] as { account: CpuAccount; cpuMs: number; param: string }[],
  }
  const watch = createStepWatch({ cpuMs: () => state.cpuMs, samplings: () => state.samplings })
  const looks = (count: number) => {
    for (let look = 0; look < count; look++) watch.look()
    return watch.stuck.aborted
  }
  /** Steps of so much CPU, while somebody waits. */
  const steps = async (count: number, cpuMs: number) => {
    for (let done = 0; done < count; done++) {
      const ended = Promise.withResolvers<void>()
      const waiting = watch.during(ended.promise)
      state.cpuMs += cpuMs
      ended.resolve()
      await waiting
    }
  }
  return { state, watch, looks, steps }
}

test('a step that takes all the CPU it may and does not end is stuck', async (t) => {
  const { state, watch, looks, steps } = rig(t)
  await steps(3, 100)
  void watch.during(never)
  state.cpuMs += STEP_CPU_MS
  assert.ok(!looks(1))
  state.cpuMs += 1
  assert.ok(looks(1))
  assert.ok(watch.stuck.reason instanceof Stuck)
  assert.equal(watch.stuck.reason.blamed.size, 0)
})

test('a model that is slow from its first step on may be slow', async (t) => {
  const { state, watch, looks, steps } = rig(t)
  await steps(1, 5_000)
  void watch.during(never)
  state.cpuMs += 90_000
  assert.ok(!looks(1))
})

test('a step without CPU is stuck after some time, an idle engine never', async (t) => {
  const { watch, looks, steps } = rig(t)
  await steps(1, 100)
  assert.ok(!looks(10_000))
  void watch.during(never)
  assert.ok(!looks(100))
  assert.ok(looks(200))
})

test('the account whose grammar runs too long is blamed, and no other', (t) => {
  const { state, watch, looks } = rig(t)
  const [short, long] = [anAccount(), anAccount()]
  void watch.during(never)
  state.samplings = [
    { account: short, cpuMs: STUCK_TOKEN_CPU_MS, param: 'response_format' },
    { account: long, cpuMs: STUCK_TOKEN_CPU_MS + 1, param: 'tools' },
  ]
  assert.ok(looks(1))
  assert.deepEqual([...watch.stuck.reason.blamed], [[long, 'tools']])
})

test('createSamplings() tells what each token took once, and ends a request between two tokens', () => {
  const now = { cpuNs: 0n, wallNs: 0n }
  const samplings = createSamplings({ processNs: () => now.cpuNs, wallNs: () => now.wallNs })
  const account = anAccount()
  const sampling = samplings.open(account)
  sampling.begin('tools')
  now.cpuNs = now.wallNs = 30n
  assert.deepEqual(samplings.shares(), [{ account, weight: 30n }])
  now.cpuNs = now.wallNs = 50n
  sampling.end()
  assert.deepEqual(samplings.shares(), [{ account, weight: 20n }])
  assert.deepEqual([samplings.shares(), samplings.running()], [[], []])

  sampling.begin('tools')
  now.wallNs += 60_000_000_000n
  now.cpuNs += TOKEN_CPU_NS_MAX
  // A busy machine's time is no fault of a request.
  sampling.end()
  sampling.begin('tools')
  now.wallNs += 60_000_000_000n
  now.cpuNs += TOKEN_CPU_NS_MAX + 1n
  assert.throws(() => sampling.end(), { code: 'invalid_request', param: 'tools' })
})

test('createSamplings() knows one token of a generation at a time, and none once it is closed', () => {
  const now = { cpuNs: 0n, wallNs: 0n }
  const samplings = createSamplings({ processNs: () => now.cpuNs, wallNs: () => now.wallNs })
  const account = anAccount()
  const sampling = samplings.open(account)
  sampling.begin('tools')
  now.cpuNs = now.wallNs = 3_000_000n
  sampling.begin('tools')
  now.cpuNs = now.wallNs = 5_000_000n
  assert.deepEqual(samplings.running(), [{ account, cpuMs: 2, param: 'tools' }])
  now.cpuNs = now.wallNs = 2n * TOKEN_CPU_NS_MAX
  sampling.close()
  sampling.close()
  assert.deepEqual(samplings.running(), [])
  const toldNs = samplings.shares().reduce((sum, { weight }) => sum + weight, 0n)
  assert.equal(toldNs, now.wallNs, 'each nanosecond is told once')
})
