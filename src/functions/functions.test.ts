// Deployments of a function on a state of its own, with a driver whose instances start at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { newEncryptionKey } from '#base/encryption.ts'
import { fault } from '#contract/errors.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { NotWanted } from '#resources/instances.ts'
import { sealVariables } from '#resources/variables.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { FunctionDriver } from './driver.ts'
import { createFunctions, type FunctionsDeps } from './functions.ts'

const ACCOUNT = 'acct_a'
const { signal } = new AbortController()

/** Functions of a node with a state of its own; `deployed` gives the id of the function. */
async function functionsOn(
  state: State,
  given: Pick<FunctionsDeps, 'state' | 'driver'> & { wakes?: FunctionsDeps['wakes'] },
) {
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  const key = newEncryptionKey()
  const wanted = {
    route: '/hello',
    runtime: 'node24',
    memory_bytes: 1,
    timeout_s: 5,
    env_names: [],
    sealed_env: sealVariables({}, { kind: 'function', account: ACCOUNT, environmentKey: key }),
    file: 'hello.js',
    source: '',
    buckets: [],
    schedule: null,
    concurrency: null,
  }
  let replacedCount = 0
  const functions = createFunctions({
    wakes: given.state,
    ...given,
    log: quiet,
    environmentKey: key,
    idleMs: 60_000,
    replaced: () => void replacedCount++,
  })
  return {
    functions,
    replacedCount: () => replacedCount,
    async deployed(): Promise<string> {
      const { rows } = await state.query<{ id: string }>(
        "select deploy_function($1, 'hello', 'local', 9, '{}', $2, 9) as id",
        [ACCOUNT, JSON.stringify(wanted)],
      )
      return rows[0]?.id ?? ''
    },
  }
}

/** A driver that keeps the versions that run. */
const driverOf = (running: number[]): FunctionDriver => ({
  admit: async () => undefined,
  async start({ version }) {
    running.push(version)
    return {
      address: 'unix:none',
      cell: 'fn-a-1',
      isOpen: false,
      concurrency: 1,
      ready: async () => undefined,
      unblock: async () => undefined,
      end: async () => void running.splice(running.indexOf(version), 1),
    }
  },
})

test(
  'a new version of a function answers, and the one before ends, also where the answer of the state was lost',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let isLost = false
    const losing: Queryable = {
      async query(text, values) {
        const answer = await state.query(text, values)
        if (isLost && text.includes('make_function_live')) throw new Error('the answer is lost')
        return answer as never
      },
    }
    const running: number[] = []
    const given = { state: losing, driver: driverOf(running) }
    const { functions, deployed, replacedCount } = await functionsOn(state, given)
    const id = await deployed()
    const resource = { id, account: ACCOUNT, name: 'hello' }
    const deploy = () => functions.deploy(resource, signal, () => undefined)
    assert.equal(await deploy(), undefined)
    await deployed()
    isLost = true
    await assert.rejects(deploy(), /the answer is lost/)
    assert.deepEqual(running, [1, 2])
    isLost = false
    const before = replacedCount()
    assert.equal(await deploy(), undefined)
    assert.ok(replacedCount() > before)
    for (let nth = 0; running.length > 1 && nth < 200; nth++) await pause(10)
    assert.deepEqual(running, [2])
    functions.close()
  },
)

test(
  'a start by the ingress, which knows the live version, waits for one round trip to the state: its code beside the wish',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let open = 0
    let roundTrips: number[] = []
    /** Counts the queries that begin while others are open. */
    const counting: Queryable = {
      async query(text, values) {
        if (open++ === 0) roundTrips.push(0)
        roundTrips.push((roundTrips.pop() ?? 0) + 1)
        return (await state.query(text, values).finally(() => open--)) as never
      },
    }
    const plain = driverOf([])
    let beforeStart: readonly number[] = []
    const driver: FunctionDriver = {
      ...plain,
      start(spec) {
        beforeStart = [...roundTrips]
        return plain.start(spec)
      },
    }
    const { functions, deployed } = await functionsOn(state, { state: counting, driver })
    const resource = { id: await deployed(), account: ACCOUNT, name: 'hello' }
    await functions.deploy(resource, signal, () => undefined)
    await functions.stop(resource.id, 'idle')
    roundTrips = []
    const byIngress = await functions.use({ ...resource, liveVersion: 1 }, signal)
    assert.deepEqual(beforeStart, [2])
    byIngress.release()
    await functions.stop(resource.id, 'idle')
    roundTrips = []
    const byRun = await functions.use(resource, signal)
    assert.deepEqual(beforeStart, [1, 2])
    byRun.release()
    await assert.rejects(functions.use({ ...resource, liveVersion: null }, signal), NotWanted)
    functions.close()
  },
)

test(
  'the source of a function is not read on the connection of wakes',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const texts: string[] = []
    const wakes: Queryable = {
      query(text, values) {
        texts.push(text)
        return state.query(text, values)
      },
    }
    const { functions, deployed } = await functionsOn(state, { state, driver: driverOf([]), wakes })
    const id = await deployed()
    const resource = { id, account: ACCOUNT, name: 'hello' }
    await functions.deploy(resource, signal, () => undefined)
    assert.ok(texts.length > 0, 'the wish of a start is a small row')
    assert.deepEqual(
      texts.filter((text) => text.includes('v.source')),
      [],
    )
    functions.close()
  },
)

test(
  'a function whose last start was not paid is admitted before its source is read',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let reads = 0
    const counting: Queryable = {
      query(text, values) {
        if (text.includes('v.source')) reads++
        return state.query(text, values)
      },
    }
    let isPaid = true
    const driver: FunctionDriver = {
      ...driverOf([]),
      async admit() {
        if (!isPaid) throw fault('budget_exhausted', 'Could not go on: it is used up')
      },
    }
    const { functions, deployed } = await functionsOn(state, { state: counting, driver })
    const resource = { id: await deployed(), account: ACCOUNT, name: 'hello' }
    await functions.deploy(resource, signal, () => undefined)
    await functions.stop(resource.id, 'budget')
    isPaid = false
    const refused = () => assert.rejects(functions.use(resource, signal), /it is used up/)
    await refused()
    reads = 0
    for (let nth = 0; nth < 5; nth++) await refused()
    assert.equal(reads, 0)
    isPaid = true
    const use = await functions.use(resource, signal)
    assert.equal(reads, 1)
    use.release()
    functions.close()
  },
)
