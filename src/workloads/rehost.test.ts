import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { rehostWorkloads } from './rehost.ts'
import { workloadsOn } from './workloads.fixture.ts'

const skip = whyNoState()
const hostsOf = async (state: Queryable) =>
  (
    await state.query<{ host: string }>(
      'select i.host from ingress_routes i join resources n on n.id = i.resource order by n.name, i.host',
    )
  ).rows.map(({ host }) => host)

test(
  'other changes of workloads and the change of all hosts do not deadlock',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 4)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    const [first, second] = [await deployed('one', 'a'), await deployed('one', 'b')]
    // Its row comes after the other one from now on.
    await state.query('update workloads set sleep_after_ms = 1 where id = $1', [first])
    const locked = 'select from resources where id = $1 for update'
    // A session repeats nothing after a deadlock.
    const rehosted = await state.transaction(async (transaction) => {
      await transaction.query(locked, [first])
      const rehosting = state.session((session) =>
        rehostWorkloads({ state: session, log: quiet }, 'apps.example.com'),
      )
      while ((await state.query('select from pg_locks where not granted')).rowCount === 0);
      await transaction.query(locked, [second])
      return { rehosting: rehosting.then(() => 'done', String) }
    })
    assert.equal(await rehosted.rehosting, 'done')
    assert.deepEqual(await hostsOf(state), [
      'a-acct-a.apps.example.com',
      'b-acct-a.apps.example.com',
    ])
    workloads.close()
  },
)

test(
  'a workload whose new host is a route of another account keeps its host',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 4)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    await addTestAccount(state, { id: 'acct_b', env: 'test', lowWater: 0n })
    await deployed('one', 'a')
    await deployed('one', 'b')
    const other = await deployed('one', 'c', {}, 'acct_b')
    await state.query('select host_resource($1, $2)', [other, ['a-acct-a.apps.example.com']])
    const warned: unknown[] = []
    const log = { ...quiet, warn: (...words: unknown[]) => void warned.push(...words) }
    await rehostWorkloads({ state, log }, 'apps.example.com')
    assert.deepEqual(await hostsOf(state), [
      'a-acct-a.localhost',
      'b-acct-a.apps.example.com',
      'a-acct-a.apps.example.com',
      'c-acct-b.apps.example.com',
    ])
    assert.match(String(warned[0]), /^A workload keeps its old host/)
    workloads.close()
  },
)
