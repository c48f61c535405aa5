// Routes of description files that lead to functions: planned, moved, changed by other means, refused, removed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErgonError, present } from '#base/errors.ts'
import type { DeploymentPlan } from '#contract/deployments/deployments.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { Queryable } from '#state/connect.ts'
import { ACCOUNT, OWNER, SLOW, faultOf, functionOf, parts, stacksOfFile } from './stacks.fixture.ts'

const skip = whyNoState()
const { state, ask, follow, deploy, start, functionRow } = stacksOfFile()

const routeOf = (host: string, to: string) => `route "${host}" {\n  to = function.${to}\n}\n`
const planOf = (stack: string, description: string) =>
  ask<DeploymentPlan>({ stack, description, dry_run: true, ...SLOW })
const holderOf = async (host: string) =>
  (
    await state().query(
      'select n.name, i.path from ingress_routes i join resources n on n.id = i.resource where i.host = $1',
      [host],
    )
  ).rows

/** Deploys functions that start, and what else is in the description. */
async function deployAll(stack: string, names: readonly string[], routes: string): Promise<void> {
  const description = `${names.map(functionOf).join('')}${routes}`
  const asked = await ask({ stack, description, ...SLOW })
  await follow(asked)
  for (const name of names) await start(name)
  assert.equal((await follow(asked)).status, 'done')
}

test('a route to a function is made after it, moves, and goes', { skip }, async () => {
  const host = 'moves.example.com'
  await deployAll('moves', ['m-one', 'm-two'], routeOf(host, 'm-one'))
  assert.deepEqual(await holderOf(host), [{ name: 'm-one', path: '/' }])
  const moved = `${functionOf('m-one')}${functionOf('m-two')}${routeOf(host, 'm-two')}`
  const plan = await planOf('moves', moved)
  assert.deepEqual(
    plan.steps.flatMap(({ action, changes }) =>
      action === 'none' ? [] : changes.map(({ before, after }) => [action, before, after]),
    ),
    [['update', 'function.m-one', 'function.m-two']],
  )
  assert.equal((await deploy('moves', moved, SLOW)).status, 'done')
  assert.deepEqual(await holderOf(host), [{ name: 'm-two', path: '/' }])
  assert.equal((await planOf('moves', moved)).changes, 0)
  assert.equal((await deploy('moves', '', SLOW)).status, 'done')
  assert.deepEqual(await holderOf(host), [])
})

test('a route of a function that was changed by other means is told', { skip }, async () => {
  const host = 'drifts.example.com'
  const file = `${functionOf('d-one')}${functionOf('d-two')}${routeOf(host, 'd-one')}`
  await deployAll('drifts', ['d-one', 'd-two'], routeOf(host, 'd-one'))
  const give = async (name: string, hosts: readonly string[]) =>
    await state().query('select host_resource($1, $2)', [(await functionRow(name)).id, hosts])
  await give('d-one', [])
  const stepOf = async () =>
    (await planOf('drifts', file)).steps.find(({ kind }) => kind === 'route')
  const gone = await stepOf()
  assert.deepEqual([gone?.action, gone?.notes], ['create', ['it was deleted by other means']])
  await give('d-two', [host])
  const other = await stepOf()
  assert.equal(other?.action, 'update')
  assert.match(String(other?.notes), /^it was replaced by other means/)
  // The stack removes no host that another function has by now.
  const without = `${functionOf('d-one')}${functionOf('d-two')}`
  assert.equal((await deploy('drifts', without, SLOW)).status, 'done')
  assert.deepEqual(await holderOf(host), [{ name: 'd-two', path: '/' }])
})

test('a route that moves and another change of its host do not deadlock', { skip }, async () => {
  const host = 'busy.example.com'
  await deployAll('busy', ['b-one', 'b-two', 'b-three'], routeOf(host, 'b-one'))
  const { id: third } = await functionRow('b-three')
  const tries = { move: 0, other: 0 }
  let other: Promise<unknown> | undefined
  const takeHost = () =>
    state().transaction(async (transaction) => {
      tries.other++
      await transaction.query('select host_resource($1, $2)', [third, [host]])
    })
  await state().transaction(async (transaction) => {
    tries.move++
    const between: Queryable = {
      async query(text, values) {
        const answer = await transaction.query(text, values)
        if (!text.includes('host_resource') || other !== undefined) return answer as never
        // The function before has given the host up, and the next one does not have it yet.
        other = assert.rejects(takeHost(), { code: '23505' })
        while ((await state().query('select from pg_locks where not granted')).rowCount === 0);
        return answer as never
      },
    }
    const wish = {
      account: ACCOUNT,
      name: host,
      spec: { name: host, to: 'function.b-two' },
      files: {},
    }
    const given = { wish, found: undefined, changed: new Set<string>() }
    await present(parts.route, 'it is served').apply(between, OWNER, given)
  })
  await other
  assert.deepEqual(tries, { move: 1, other: 1 })
  assert.deepEqual(await holderOf(host), [{ name: 'b-two', path: '/' }])
})

test('a route takes its host from a function that has it since a moment', { skip }, async () => {
  const host = 'given.example.com'
  await deployAll('given', ['g-one', 'g-two', 'g-three'], routeOf(host, 'g-one'))
  const give = async (transaction: Queryable, name: string, hosts: readonly string[]) =>
    await transaction.query('select host_resource($1, $2)', [(await functionRow(name)).id, hosts])
  const wish = {
    account: ACCOUNT,
    name: host,
    spec: { name: host, to: 'function.g-two' },
    files: {},
  }
  const given = { wish, found: undefined, changed: new Set<string>() }
  const moved = await state().transaction(async (transaction) => {
    await give(transaction, 'g-one', [])
    await give(transaction, 'g-three', [host])
    const moving = state().transaction((other) =>
      present(parts.route, 'it is served').apply(other, OWNER, given),
    )
    while ((await state().query('select from pg_locks where not granted')).rowCount === 0);
    return { moving: moving.then(() => 'moved', String) }
  })
  assert.equal(await moved.moving, 'moved')
  assert.deepEqual(await holderOf(host), [{ name: 'g-two', path: '/' }])
})

test('a host of another account, and one of the service, are refused', { skip }, async () => {
  await addTestAccount(state(), { id: 'acct_b', env: 'test', lowWater: 0n })
  const { rows } = await state().query<{ id: string }>(
    "select add_resource('function', 'acct_b', 'theirs', 'local', 9) as id",
  )
  await state().query('select set_routes($1, $2)', [
    rows[0]?.id,
    JSON.stringify([{ host: 'theirs.example.com', path: '/', timeout_s: 5 }]),
  ])
  for (const host of ['theirs.example.com', 'a.portal.localhost'])
    await assert.rejects(planOf('taken', `${functionOf('t')}${routeOf(host, 't')}`), {
      code: 'description_invalid',
      message: `ergon.hcl:4:1: Could not use the host: ${host} is taken`,
    })
})

test(
  'a route to a function that was deleted since the plan fails with words',
  { skip },
  async () => {
    await deployAll('late', ['l-one'], '')
    const asked = await ask({
      stack: 'late',
      description: `${functionOf('l-one')}${routeOf('late.example.com', 'l-one')}`,
      ...SLOW,
    })
    await state().query('select delete_function($1)', [(await functionRow('l-one')).id])
    const failed = await follow(asked)
    assert.equal(failed.status, 'failed')
    assert.match(String(faultOf(failed)?.message), /Could not find the function: "l-one"/)
  },
)

test(
  'a route to a function that the file has no more is refused at its place',
  { skip },
  async () => {
    const of = planOf('named', `${functionOf('n-one')}${routeOf('n.example.com', 'n-on')}`)
    const error = await of.catch((refused: unknown) => refused)
    assert.ok(error instanceof ErgonError)
    assert.match(
      error.message,
      /ergon\.hcl:5:8: The file has no function n-on; did you mean "n-one"\?/,
    )
  },
)
