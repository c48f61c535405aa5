// Many deployments at once: their turns, their limits, and how long they are kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { DEPLOYMENTS_RUNNING_MAX } from '#contract/deployments/deployment-limits.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { followDeployments } from './follow-deployments.ts'
import { SLOW, bucketOf, functionOf, log, stacksOfFile } from './stacks.fixture.ts'

const skip = whyNoState()
const { state, ask, turn } = stacksOfFile()

const endedOf = async (id: string): Promise<string> => {
  for (;;) {
    const { rows } = await state().query<{ status: string }>(
      'select status from deployments where id = $1',
      [id],
    )
    if (rows[0]?.status !== 'running') return rows[0]?.status ?? ''
    await sleep(20)
  }
}

test('deployments that wait, or whose turns fail, make no other one wait', { skip }, async () => {
  const waiting: string[] = []
  for (let n = 0; n < 21; n++) {
    const asked = { stack: `slow-${n}`, description: functionOf(`slow-${n}`), ...SLOW }
    waiting.push((await ask(asked)).id)
  }
  const { id } = await ask({ stack: 'quick', description: bucketOf('quick') })
  const stop = new AbortController()
  const takes = ({ id: one }: { readonly id: string }) =>
    one === waiting[0] ? Promise.reject(new TypeError('torn')) : turn(one)
  const following = followDeployments({ state: state(), log, takeTurn: takes }, stop.signal)
  const status = await Promise.race([endedOf(id), sleep(30_000).then(() => 'late')])
  stop.abort()
  await following
  assert.equal(status, 'done')
})

test(
  'an account has so many deployments at once, whatever stacks they are of',
  { skip },
  async () => {
    const { rows } = await state().query<{ count: number }>(
      "select count(*)::int from deployments where status = 'running'",
    )
    const asked = Array.from(
      { length: DEPLOYMENTS_RUNNING_MAX + 3 - (rows[0]?.count ?? 0) },
      (_, n) => ask({ stack: `many-${n}`, description: bucketOf(`many-${n}`) }),
    )
    const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')
    assert.deepEqual(
      refused.map((one) => (one as PromiseRejectedResult).reason.code),
      Array.from({ length: 3 }, () => 'too_many_deployments'),
    )
    await state().query("select end_deployment(id, 'failed', '[]') from deployments")
    await ask({ stack: 'many', description: bucketOf('many') })
  },
)

test('so many deployments are kept, the newest of them', { skip }, async () => {
  await addTestAccount(state(), { id: 'acct_b', env: 'test', lowWater: 0n })
  for (const n of [1, 2, 3, 4, 5])
    await state().query(
      `select add_deployment($1, 'acct_b', $2, 'f', 't', 'r', 'p', false, 's', '[]', 3)`,
      [`dep_${n}`, `kept-${n}`],
    )
  const { rows } = await state().query<{ id: string }>(
    "select id from deployments where account = 'acct_b' order by id",
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['dep_3', 'dep_4', 'dep_5'],
  )
})
