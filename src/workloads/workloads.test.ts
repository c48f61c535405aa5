// Deployments of a workload on a state of its own, with a driver whose instances start at once.
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
import type { Queryable } from '#state/connect.ts'
import type { WorkloadDriver } from './driver.ts'
import { createScaledTeller } from './tell-scaled.ts'
import { createWorkloads, type WorkloadsDeps } from './workloads.ts'

const ACCOUNT = 'acct_a'
const GIVEN = {
  env_names: [],
  secret_names: [],
  cpu_milli: 100,
  memory_bytes: 1,
  scale_min: 1,
  scale_max: 1,
  target_requests: 50,
  sleep_after_ms: 60_000,
  hosts: [],
  volumes: [],
}
const { signal } = new AbortController()
const CONFIG = {
  diffIds: [],
  command: [],
  entrypoint: [],
  env: [],
  folder: '/',
  ports: [8080],
  stopSignal: 'SIGTERM',
}

/** A driver that keeps the versions that run. */
const driverOf = (running: number[]): WorkloadDriver => ({
  pull: async () => ({ digest: 'sha256:0', config: CONFIG }),
  has: () => true,
  prune: async () => undefined,
  volumes: {
    keep: async () => undefined,
    keepWorkloads: async () => undefined,
    used: async () => new Map(),
    assertRoom: async () => undefined,
    open: async () => undefined,
    lacking: async () => new Map(),
  },
  async start({ version }) {
    running.push(version)
    return {
      address: 'unix:none',
      cell: 'wl-a-1-1',
      ready: async () => undefined,
      end: async () => void running.splice(running.indexOf(version), 1),
    }
  },
})

/** Workloads of a node with a state of its own; a deployment gives the id of the workload. */
async function workloadsOn(
  state: Awaited<ReturnType<typeof openLedgerState>>,
  given: Partial<WorkloadsDeps> & { readonly running: number[] },
) {
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  const key = newEncryptionKey()
  const sealed = sealVariables({}, { kind: 'workload', account: ACCOUNT, environmentKey: key })
  const workloads = createWorkloads({
    state,
    log: quiet,
    environmentKey: key,
    driver: driverOf(given.running),
    line: () => undefined,
    replaced: () => undefined,
    urlOf: (host) => `http://${host}`,
    readyMs: 5000,
    memoryBytes: 1_000_000,
    ...given,
  })
  return {
    workloads,
    async deployed(
      image: string,
      name = 'web',
      more: object = {},
      account = ACCOUNT,
    ): Promise<string> {
      const { rows } = await state.query<{ id: string }>(
        "select deploy_workload($1, $4, 'local', 9, 'localhost', $2, $3, 9) as id",
        [
          account,
          JSON.stringify({ ...GIVEN, sealed_env: sealed, sealed_secrets: sealed }),
          JSON.stringify({ image, ...more }),
          name,
        ],
      )
      return rows[0]?.id ?? ''
    },
    deploy: (id: string, name = 'web') =>
      workloads.deploy({ id, account: ACCOUNT, name }, signal, () => undefined),
  }
}

test(
  'a new version answers, and the one before ends, also where the answer of the state was lost',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let isLost = false
    const losing: Queryable = {
      async query(text, values) {
        const answer = await state.query(text, values)
        if (isLost && text.includes('make_workload_live')) throw new Error('the answer is lost')
        return answer as never
      },
    }
    const running: number[] = []
    let replacedCount = 0
    const { workloads, deployed, deploy } = await workloadsOn(state, {
      state: losing,
      running,
      replaced: () => void replacedCount++,
    })
    const id = await deployed('one')
    assert.equal(await deploy(id), undefined)
    await deployed('two')
    isLost = true
    await assert.rejects(deploy(id), /the answer is lost/)
    assert.deepEqual(running, [1, 2])
    isLost = false
    replacedCount = 0
    assert.equal(await deploy(id), undefined)
    assert.ok(replacedCount > 0)
    for (let nth = 0; running.length > 1 && nth < 200; nth++) await pause(10)
    assert.deepEqual(running, [2])
    workloads.close()
  },
)

test(
  'where a new version has no room beside the one before, that ends first',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    const given = { running, memoryBytes: 1 }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const id = await deployed('one')
    assert.equal(await deploy(id), undefined)
    await deployed('two')
    assert.equal(await deploy(id), undefined)
    assert.deepEqual(running, [2])
    workloads.close()
  },
)

test(
  'a version that other workloads leave no room for fails after its time, and the account reads why',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const given = { running: [], memoryBytes: 1, readyMs: 100 }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    assert.equal(await deploy(await deployed('one')), undefined)
    const other = await deployed('one', 'other')
    assert.equal(await deploy(other, 'other'), 'failed')
    const { rows } = await state.query<{ failure: string }>(
      'select failure from resource_versions where resource = $1',
      [other],
    )
    assert.match(rows[0]?.failure ?? '', /needs 0 MB of memory, and 0 MB of the node's 0 MB/)
    workloads.close()
  },
)

test(
  'a version with a volume starts where nothing else of its workload runs, and uses wait for its end',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    const seen: (readonly number[])[] = []
    const plain = driverOf(running)
    const driver: WorkloadDriver = {
      ...plain,
      async start(spec, events) {
        const instance = await plain.start(spec, events)
        seen.push([...running])
        const ready = async () => {
          await pause(50)
          if (spec.image === 'bad') throw fault('workload_failed', 'It is bad')
        }
        return { ...instance, ready }
      },
    }
    const { workloads, deployed, deploy } = await workloadsOn(state, { running, driver })
    const volumes = { volumes: [{ name: 'data', path: '/data', size_bytes: 1 }] }
    const id = await deployed('one', 'web', { ...volumes, deletable_volumes: [] })
    await deploy(id)
    const useDuring = async (version: number) => {
      while (!running.includes(version)) await pause(1)
      const used = await workloads.use({ id, account: ACCOUNT, name: 'web' }, signal, 1)
      used.release()
      return [...running]
    }
    await deployed('two')
    const [, afterSecond] = await Promise.all([deploy(id), useDuring(2)])
    await deployed('bad')
    const [, afterBad] = await Promise.all([deploy(id), useDuring(3)])
    assert.deepEqual([afterSecond, afterBad, running], [[2], [2], [2]])
    assert.deepEqual(seen, [[1], [2], [3], [2]])
    workloads.close()
  },
)

test(
  'a number of instances is told once, also by another life of the agent',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    workloads.close()
    const id = await deployed('one')
    const told = async () =>
      (
        await state.query<{ count: string }>(
          "select data ->> 'instances' as count from events where type = 'workload.scaled' order by sequence",
        )
      ).rows.map(({ count }) => Number(count))
    let [count, asked] = [0, 0]
    const counting: Queryable = {
      query: (text, values) => state.query(text, values).finally(() => asked++) as never,
    }
    const lifeSees = async (...counts: readonly number[]) => {
      const teller = createScaledTeller({
        state: counting,
        log: quiet,
        countOf: () => count,
        settledMs: 1,
      })
      for (count of counts) {
        const before = asked
        teller.changed(id)
        while (asked === before) await pause(10)
      }
      teller.close()
      return await told()
    }
    assert.deepEqual(await lifeSees(1, 0, 1), [])
    assert.deepEqual(await lifeSees(3), [3])
    assert.deepEqual(await lifeSees(1, 3), [3, 1, 3])
    assert.deepEqual(await lifeSees(3, 0), [3, 1, 3, 0])
  },
)

test(
  'a volume that the disk has no room for fails its version alone: the live one is not ended, and starts again',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    const starts: number[] = []
    const plain = driverOf(running)
    const assertRoom = async ({ volumes }: { readonly volumes: readonly { bytes: number }[] }) => {
      if (volumes.some(({ bytes }) => bytes > 10)) throw fault('workload_failed', 'no room')
    }
    const driver: WorkloadDriver = {
      ...plain,
      volumes: { ...plain.volumes, assertRoom, open: assertRoom },
      async start(spec, events) {
        await assertRoom(spec)
        starts.push(spec.version)
        return await plain.start(spec, events)
      },
    }
    const { workloads, deployed, deploy } = await workloadsOn(state, { running, driver })
    const sized = (size: number, name = 'data') =>
      deployed('one', 'web', {
        volumes: [{ name, path: '/data', size_bytes: size }],
        deletable_volumes: ['data'],
      })
    const sizes = async () =>
      (
        await state.query<{ size: string }>(
          "select name || ' ' || size_bytes as size from workload_volumes order by name",
        )
      ).rows.map(({ size }) => size)
    const id = await sized(5)
    assert.equal(await deploy(id), undefined)
    await sized(50)
    assert.equal(await deploy(id), undefined)
    assert.deepEqual([starts, running, await sizes()], [[1], [1], ['data 5']])
    await workloads.stop(id, 'idle')
    const { release } = await workloads.use({ id, account: ACCOUNT, name: 'web' }, signal, 1)
    release()
    assert.deepEqual(starts, [1, 1])
    // Neither was there in that size: less may be asked for, but not less than there is.
    await sized(50, 'new')
    assert.equal(await deploy(id), undefined)
    await sized(8, 'new')
    await sized(7)
    assert.equal(await deploy(id), undefined)
    assert.deepEqual([running, await sizes()], [[5], ['data 7']])
    await assert.rejects(sized(6), { code: 'EG026' })
    workloads.close()
  },
)

test(
  'pulls from eight registries that never end their answers hold up no other deployment',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const ends = Promise.withResolvers<never>()
    let begun = 0
    const plain = driverOf([])
    const driver: WorkloadDriver = {
      ...plain,
      async pull(wanted, ...rest) {
        if (wanted.image !== 'slow') return await plain.pull(wanted, ...rest)
        begun++
        return await ends.promise
      },
    }
    const { workloads, deployed, deploy } = await workloadsOn(state, { running: [], driver })
    const deployments = []
    for (let nth = 1; nth <= 8; nth++) {
      const account = `acct_${nth}`
      await addTestAccount(state, { id: account, env: 'test', lowWater: 0n })
      deployments.push(deploy(await deployed('slow', 'slow', {}, account), 'slow'))
    }
    while (begun < deployments.length) await pause(5)
    const web = await deployed('one')
    const reached = await Promise.race([deploy(web), pause(10_000, 'held up')])
    ends.reject(fault('registry_unreachable', 'The registry is too slow'))
    for (const one of await Promise.allSettled(deployments)) assert.equal(one.status, 'rejected')
    assert.equal(reached, undefined)
    workloads.close()
  },
)

test(
  'a pull that a wake has begun ends when its account does not want the workload any more',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    const pulling = Promise.withResolvers<void>()
    let isThere = true
    const driver: WorkloadDriver = {
      ...driverOf(running),
      has: () => isThere,
      pull: async (_wanted, _progress, ending) => {
        if (isThere) return { digest: 'sha256:0', config: CONFIG }
        pulling.resolve()
        return await new Promise((_, reject) =>
          ending.addEventListener('abort', () => reject(ending.reason)),
        )
      },
    }
    const given = { running, driver, readyMs: 600_000 }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const id = await deployed('one')
    assert.equal(await deploy(id), undefined)
    await workloads.stop(id, 'idle')
    isThere = false
    const used = workloads.use({ id, account: ACCOUNT, name: 'web' }, signal, 1)
    used.catch(() => undefined)
    await pulling.promise
    await state.query("select want_resource($1, 'suspended')", [id])
    await Promise.race([
      workloads.stop(id, 'suspended'),
      pause(20_000).then(() => assert.fail('the pull goes on')),
    ])
    await assert.rejects(used, NotWanted)
    workloads.close()
  },
)

test(
  'a wake that reads its version while the workload is stopped pulls nothing',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let [isThere, pulls, reads] = [true, 0, 0]
    /** The start has read that the workload is wanted. */
    let wish: Promise<unknown> | undefined
    const driver: WorkloadDriver = {
      ...driverOf([]),
      has: () => isThere,
      async pull() {
        pulls++
        return { digest: 'sha256:0', config: CONFIG }
      },
    }
    const stopping: Queryable = {
      async query(text, values) {
        const answer = state.query(text, values)
        if (text.startsWith('select from resources')) wish = answer
        if (!isThere && text.includes('as "sealedEnv"') && reads++ === 0) {
          await wish
          await state.query("select want_resource($1, 'suspended')", [id])
          // It waits for the start, and the start for this.
          workloads.stop(id, 'suspended').catch(() => undefined)
        }
        return (await answer) as never
      },
    }
    const given = { running: [], driver, state: stopping }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const id = await deployed('one')
    assert.equal(await deploy(id), undefined)
    await workloads.stop(id, 'idle')
    ;[isThere, pulls] = [false, 0]
    const used = workloads.use({ id, account: ACCOUNT, name: 'web' }, signal, 1)
    await assert.rejects(used, NotWanted)
    assert.deepEqual([reads > 0, pulls], [true, 0])
    workloads.close()
  },
)

test(
  'the image of a version that has lost its volumes to a newer one is not pulled again',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let pulls = 0
    const plain = driverOf([])
    const driver: WorkloadDriver = {
      ...plain,
      has: () => false,
      async pull() {
        pulls++
        return { digest: 'sha256:0', config: CONFIG }
      },
      volumes: { ...plain.volumes, assertRoom: async () => void (await deployed('two')) },
    }
    const { workloads, deployed, deploy } = await workloadsOn(state, { running: [], driver })
    const volumes = { volumes: [{ name: 'data', path: '/data', size_bytes: 1 }] }
    const id = await deployed('one', 'web', { ...volumes, deletable_volumes: [] })
    await assert.rejects(deploy(id), NotWanted)
    assert.equal(pulls, 1)
    workloads.close()
  },
)
