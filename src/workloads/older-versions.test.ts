// Instances of versions that are kept no more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { quiet } from '#postgres/testing.ts'
import { createInstances } from '#resources/instances.ts'
import type { RunningWorkload } from './driver.ts'
import { endOlderVersions } from './older-versions.ts'
import { keyOfInstance, type VersionedInstance } from './versioned.ts'
import { ACCOUNT, signal, workloadsOn } from './workloads.fixture.ts'

test(
  'an instance whose version is kept no more ends, also while a request uses it',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    const { workloads, deployed, deploy } = await workloadsOn(state, { running })
    const id = await deployed('one')
    assert.equal(await deploy(id), undefined)
    await workloads.use({ id, account: ACCOUNT, name: 'web' }, signal, 1)
    await deployed('two')
    assert.equal(await deploy(id), undefined)
    assert.deepEqual(running, [1, 2])
    // Versions that are wanted for a moment only.
    for (let version = 3; version <= 10; version++) await deployed('more')
    assert.equal(await deploy(id), undefined)
    assert.equal(running.includes(1), false)
    workloads.close()
  },
)

/** The time that starts of a test have. */
const START_MS = 300
/** Starts that wait for each other wait for ever. */
const STUCK_MS = 10_000

test(
  'starts of two replaced versions that ask each other to end have an end',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    const names = ['web', 'api']
    const ids = await Promise.all(names.map((name) => deployed('one', name)))
    for (const name of names) await deployed('two', name)
    await state.query("select make_workload_live(id, 2, 'url') from workloads")
    const both = Promise.withResolvers<void>()
    let begun = 0
    const instances = createInstances<VersionedInstance, RunningWorkload>({
      state,
      log: quiet,
      keyOf: keyOfInstance,
      idleMs: 0,
      prepare: async (own) => async () => {
        if (++begun === ids.length) both.resolve()
        await both.promise
        await endOlderVersions({ state, instances }, own, AbortSignal.timeout(START_MS))
        throw new TypeError('It has waited for the end of the other')
      },
    })
    const uses = ids.map((id, nth) => {
      const own = { id, account: ACCOUNT, name: names[nth] ?? '', version: 1, instance: 1 }
      return instances.use({ ...own, sleepAfterMs: 0 }, { cause: 'connection' }, signal)
    })
    const ends = await Promise.race([Promise.allSettled(uses), pause(STUCK_MS, undefined)])
    assert.deepEqual(
      ends?.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    await Promise.all(ids.map((id) => instances.stopAll(id, 'suspended')))
    assert.deepEqual(instances.running(), [])
    workloads.close()
  },
)
