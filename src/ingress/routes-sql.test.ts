// The table of routes on a state of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { readRoutes } from './follow-routes.ts'

const skip = whyNoState()
let state: State
ledgerOfFile(2, async (made) => {
  state = made
  for (const id of ['acct_a', 'acct_b'])
    await addTestAccount(state, { id, env: 'test', lowWater: 0n })
})

const add = async (account: string, name: string): Promise<string> => {
  const { rows } = await state.query<{ id: string }>(
    "select add_resource('function', $1, $2, 'local', 100) as id",
    [account, name],
  )
  return rows[0]?.id ?? ''
}
const set = (id: string, ...routes: readonly object[]) =>
  state.query('select set_routes($1, $2)', [
    id,
    JSON.stringify(routes.map((one) => ({ path: '/', timeout_s: 5, ...one }))),
  ])

test('the routes of a resource are those of its last list', { skip }, async () => {
  const id = await add('acct_a', 'one')
  await set(id, { host: 'one.example' }, { host: 'two.example', concurrency: 3 })
  await set(id, { host: 'two.example', path: '/x' }, { path: '/one' })
  const routes = (await readRoutes(state)).filter((one) => one.id === id)
  assert.deepEqual(routes, [
    {
      id,
      kind: 'function',
      account: 'acct_a',
      host: 'two.example',
      path: '/x',
      timeoutS: 5,
      concurrency: null,
      scale: null,
    },
    {
      id,
      kind: 'function',
      account: 'acct_a',
      host: null,
      path: '/one',
      timeoutS: 5,
      concurrency: null,
      scale: null,
    },
  ])
  await set(id)
  assert.equal((await readRoutes(state)).filter((one) => one.id === id).length, 0)
})

test('a route is of one resource, and a host of one account', { skip }, async () => {
  const [a, other, b] = [
    await add('acct_a', 'a'),
    await add('acct_a', 'o'),
    await add('acct_b', 'b'),
  ]
  await set(a, { host: 'h.example' }, { path: '/p' })
  await assert.rejects(set(other, { host: 'h.example' }), { code: '23505' })
  await assert.rejects(set(other, { path: '/p' }), { code: '23505' })
  await set(other, { host: 'h.example', path: '/o' })
  await set(b, { path: '/p' })
  await assert.rejects(set(b, { host: 'h.example', path: '/b' }), { code: 'EG023' })
  // A refused list changes nothing.
  assert.equal((await readRoutes(state)).filter((one) => one.id === b).length, 1)
  await set(a)
  await set(other)
  await set(b, { host: 'h.example', path: '/b' })
})

test('one of two accounts that take a host at once gets it', { skip }, async () => {
  const ids = [await add('acct_a', 'race'), await add('acct_b', 'race')]
  const all = await Promise.allSettled(
    ids.map((id, nth) => set(id, { host: 'race.example', path: `/${nth}` })),
  )
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
})
