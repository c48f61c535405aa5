// Instances of versions that are kept no more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
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
