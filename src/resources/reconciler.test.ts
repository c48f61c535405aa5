import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { reconcile } from './reconciler.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'

async function withState(work: (state: State) => Promise<void>): Promise<void> {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 3)
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  await work(state)
}

const add = async (state: State, name: string, most = 9) =>
  (
    await state.query<{ id: string | null }>(
      "select add_resource('database', $1, $2, 'local', $3) as id",
      [ACCOUNT, name, most],
    )
  ).rows[0]?.id
const rowOf = async (state: State, id: unknown) =>
  (
    await state.query<{ actual: string; reason: string | null }>(
      'select actual, reason from resources where id = $1',
      [id],
    )
  ).rows[0]

test('a name is taken while its resource is there, and resources are counted', { skip }, () =>
  withState(async (state) => {
    const id = await add(state, 'one')
    assert.match(id ?? '', /^db_/)
    assert.equal(await add(state, 'one'), null)
    await assert.rejects(add(state, 'two', 1), { code: 'EG020' })
    await state.query("select want_resource($1, 'deleted')", [id])
    assert.match((await add(state, 'one', 1)) ?? '', /^db_/)
  }),
)

test('the machine refuses moves that it does not have', { skip }, () =>
  withState(async (state) => {
    const id = await add(state, 'one')
    const move = async (to: string) =>
      (
        await state.query<{ moved: boolean | null }>('select move_resource($1, $2) as moved', [
          id,
          to,
        ])
      ).rows[0]?.moved ?? false
    for (const to of ['deployed', 'suspended', 'failed']) assert.equal(await move(to), false, to)
    for (const to of [
      'deploying',
      'failed',
      'deploying',
      'deployed',
      'suspended',
      'deployed',
      'deleted',
    ])
      assert.equal(await move(to), true, to)
    assert.equal(await move('deploying'), false)
  }),
)

test(
  'resources are made and removed as they are wanted; a failure keeps its details in the log',
  { skip },
  () =>
    withState(async (state) => {
      const ending = new AbortController()
      const removed: string[] = []
      const suspended: string[] = []
      const running = reconcile(
        {
          state,
          log: { ...quiet, error: () => undefined },
          kind: 'database',
          deploy: async ({ name }) => {
            if (name === 'bad') throw new TypeError('no room in /srv/secret/path')
          },
          suspend: async ({ id }) => void suspended.push(id),
          remove: async ({ id }) => void removed.push(id),
        },
        ending.signal,
      )
      const reaches = async (id: unknown, actual: string) => {
        const lastMs = performance.now() + 20_000
        while ((await rowOf(state, id))?.actual !== actual) {
          assert.ok(performance.now() < lastMs, actual)
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
      const [good, bad] = [await add(state, 'good'), await add(state, 'bad')]
      await reaches(good, 'deployed')
      await reaches(bad, 'failed')
      assert.doesNotMatch((await rowOf(state, bad))?.reason ?? '', /secret/)
      for (const wanted of ['suspended', 'deployed', 'deleted']) {
        await state.query('select want_resource($1, $2)', [good, wanted])
        await reaches(good, wanted)
      }
      assert.deepEqual([suspended, removed], [[good], [good]])
      ending.abort()
      await running
    }),
)
