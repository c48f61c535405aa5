// Pulls of images end with the wish for them, and hold up nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fault } from '#contract/errors.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { NotWanted } from '#resources/instances.ts'
import { NotYet } from '#resources/reconciler.ts'
import type { Trials } from '#resources/trials.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadDriver } from './driver.ts'
import { ACCOUNT, driverOf, heldImage, signal, workloadsOn } from './workloads.fixture.ts'

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
  'a workload shows the bytes of a pull that goes on, and no pull once it has failed',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const shown = async () =>
      (await state.query<{ pull: unknown }>('select pull from workload_versions')).rows[0]?.pull
    const seen: unknown[] = []
    const driver: WorkloadDriver = {
      ...driverOf([]),
      has: () => false,
      async pull(_wanted, progress) {
        progress({ doneBytes: 0, totalBytes: 0 })
        await pause(100)
        seen.push(await shown())
        progress({ doneBytes: 5, totalBytes: 9 })
        while ((await shown()) === null) await pause(5)
        seen.push(await shown())
        throw fault('registry_unreachable', 'The registry is too slow')
      },
    }
    const { workloads, deployed, deploy } = await workloadsOn(state, { running: [], driver })
    await assert.rejects(deploy(await deployed('one')), { code: 'registry_unreachable' })
    assert.deepEqual([...seen, await shown()], [null, { done_bytes: 5, total_bytes: 9 }, null])
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
        if (isThere) return heldImage()
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
        return heldImage()
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
    let [isThere, pulls] = [false, 0]
    const plain = driverOf([])
    const driver: WorkloadDriver = {
      ...plain,
      has: () => isThere,
      async pull() {
        ;[isThere, pulls] = [true, pulls + 1]
        return heldImage()
      },
      volumes: {
        ...plain.volumes,
        prepare: async (...given) => ({
          ...(await plain.volumes.prepare(...given)),
          async open() {
            await deployed('two')
            isThere = false
          },
        }),
      },
    }
    const { workloads, deployed, deploy } = await workloadsOn(state, { running: [], driver })
    const volumes = { volumes: [{ name: 'data', path: '/data', size_bytes: 1 }] }
    const id = await deployed('one', 'web', { ...volumes, deletable_volumes: [] })
    await assert.rejects(deploy(id), NotWanted)
    assert.equal(pulls, 1)
    workloads.close()
  },
)

test(
  'wakes that need their images pull one of an account at a time, as deployments do',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let [isThere, pulling, most] = [true, 0, 0]
    const driver: WorkloadDriver = {
      ...driverOf([]),
      has: () => isThere,
      async pull() {
        most = Math.max(most, ++pulling)
        await pause(20)
        pulling--
        return heldImage()
      },
    }
    const { workloads, deployed, deploy } = await workloadsOn(state, { running: [], driver })
    const ids = []
    for (const name of ['a', 'b', 'c']) {
      const id = await deployed('one', name)
      await deploy(id, name)
      await workloads.stop(id, 'idle')
      ids.push({ id, account: ACCOUNT, name })
    }
    ;[isThere, most] = [false, 0]
    const uses = await Promise.all(ids.map((one) => workloads.use(one, signal, 1)))
    assert.equal(most, 1)
    for (const { release } of uses) release()
    workloads.close()
  },
)

test(
  'a wake whose image cannot be pulled says so in the log of its workload',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let isThere = true
    const told: string[] = []
    const driver: WorkloadDriver = {
      ...driverOf([]),
      has: () => isThere,
      async pull() {
        if (isThere) return heldImage()
        throw fault('registry_unreachable', 'The registry is silent')
      },
    }
    const line = ({ text }: { readonly text: string }) => void told.push(text)
    const { workloads, deployed, deploy } = await workloadsOn(state, { running: [], driver, line })
    const id = await deployed('one')
    await deploy(id)
    await workloads.stop(id, 'idle')
    isThere = false
    const used = workloads.use({ id, account: ACCOUNT, name: 'web' }, signal, 1)
    await assert.rejects(used, { code: 'registry_unreachable' })
    assert.deepEqual(told, ['The registry is silent'])
    workloads.close()
  },
)

/** Turns of accounts whose pulls rest while `rests` says so. */
const restingIf = (rests: () => boolean): Trials => ({
  async run(_account, pull) {
    if (rests()) throw new NotYet()
    return await pull()
  },
})

test(
  'a new version whose image has gone while pulls of its account rest ends no other version, and is tried again',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    let hasGone = false
    const driver: WorkloadDriver = {
      ...driverOf(running),
      has: () => !hasGone,
      async pull({ image }) {
        hasGone = image === 'two'
        return heldImage()
      },
    }
    const pulls = restingIf(() => hasGone)
    const given = { running, driver, pulls, readyMs: 100 }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const id = await deployed('one')
    assert.equal(await deploy(id), undefined)
    await deployed('two')
    await assert.rejects(deploy(id), NotYet)
    assert.deepEqual(running, [1])
    hasGone = false
    assert.equal(await deploy(id), undefined)
    const { rows } = await state.query(
      'select live_version, failure from resources n join resource_versions v on v.resource = n.id and v.version = n.version where id = $1',
      [id],
    )
    assert.deepEqual(rows, [{ live_version: 2, failure: null }])
    workloads.close()
  },
)

test(
  'a wake whose image is not there while pulls of its account rest is refused for a while',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    let hasGone = false
    const told: string[] = []
    const driver: WorkloadDriver = { ...driverOf([]), has: () => !hasGone }
    const pulls = restingIf(() => hasGone)
    const line = ({ text }: { readonly text: string }) => void told.push(text)
    const given = { running: [], driver, pulls, line }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const id = await deployed('one')
    await deploy(id)
    await workloads.stop(id, 'idle')
    hasGone = true
    const used = workloads.use({ id, account: ACCOUNT, name: 'web' }, signal, 1)
    await assert.rejects(used, { code: 'workload_busy', retryAfterS: 15 })
    assert.match(told.join(), /pulls of its account rest after failures/)
    workloads.close()
  },
)
