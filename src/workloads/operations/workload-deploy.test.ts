// Deployments, versions and events of workloads on a state of their own, without anything that runs them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ACCOUNT_INSTANCES_MAX,
  WORKLOADS_MAX,
  WORKLOAD_VERSIONS_MAX,
} from '#contract/workloads/workload-limits.ts'
import { createResourceChange, createResourceDelete } from '#http/resource-operations.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { quiet } from '#postgres/testing.ts'
import { SHOWN_WORKLOADS } from '#workloads/find-workload.ts'
import { rehostWorkloads } from '#workloads/rehost.ts'
import { callOf, replyOf, settings, workloadsOfAccounts } from './workload-calls.fixture.ts'
import { createWorkloadScale } from './workload-update.ts'
import { wishWorkload } from './workload-suspend.ts'

const skip = whyNoState()
const world = workloadsOfAccounts()
const { change, deploy, makeLive, query, rollBack } = world

const eventsOf = async (id: string) =>
  (
    await query(
      "select type, data from events where data ->> 'workload_id' = $1 order by sequence",
      id,
    )
  ).map(({ type, data }) => [type, data as Record<string, unknown>] as const)

test('a node that runs no containers says so', async () => {
  await assert.rejects(deploy({ name: 'none' }, { address: undefined }), {
    code: 'workloads_off',
    status: 503,
  })
})

test(
  'a pull is shown while it goes on, and no more once its version has failed',
  { skip },
  async () => {
    const { id } = await deploy({ name: 'pulled' })
    const pull = { done_bytes: 5, total_bytes: 9 }
    await query('update workload_versions set pull = $2 where workload = $1', id, pull)
    const shown = async () => (await change('pulled', { scale: { max: 2 } })).pull
    assert.deepEqual(await shown(), pull)
    await query('select fail_version($1, 1, $2)', id, 'the registry refuses')
    assert.equal(await shown(), null)
  },
)

test('a further deployment makes a version, and keeps what it leaves out', { skip }, async () => {
  const first = await deploy({
    name: 'api',
    env: { B: '1', A: '2' },
    secrets: { KEY: 'x' },
    health: { path: '/healthz' },
    scale: { min: 1 },
    memory: '64MB',
  })
  assert.deepEqual(
    [first.version, first.env, first.secrets, first.scale, first.memory_bytes, first.cpu],
    [1, ['A', 'B'], ['KEY'], { min: 1, max: 1, target_requests: 50 }, 64_000_000, 1],
  )
  assert.deepEqual(first.health, { path: '/healthz', interval: '10s', timeout: '5s' })
  assert.equal(first.url, 'http://api-acct-a.functions.localhost:8082')
  const second = await deploy({ name: 'api', image: 'api:2', health: null })
  assert.deepEqual(
    [second.id, second.version, second.env, second.image, second.health],
    [first.id, 2, ['A', 'B'], 'api:2', null],
  )
  // Neither a budget nor a scale is a version.
  const third = await change('api', { scale: { min: 0 }, energy_budget: '10 J/day' })
  assert.deepEqual(
    [third.version, third.scale, third.energy_budget],
    [2, { min: 0, max: 1, target_requests: 50 }, '10 J/day'],
  )
  assert.deepEqual(
    (await eventsOf(first.id)).map(([type, { min, max }]) => [type, min, max]),
    [['workload.scaled', 0, 1]],
  )
  const scale = async (body: object) =>
    createWorkloadScale({ state: world.state, settings })(callOf(body, 'api'))
  await assert.rejects(scale({ min: 2 }), { code: 'invalid_request', param: 'scale' })
  assert.deepEqual(replyOf(await scale({ min: 2, max: 3, target_requests: 7 })).scale, {
    min: 2,
    max: 3,
    target_requests: 7,
  })
  const [route] = await query('select scale from ingress_routes where resource = $1', first.id)
  assert.deepEqual(route, { scale: { min: 2, max: 3, target: 7 } })
  await scale({ min: 0, max: 1 })
  const [{ sealed = '' } = {}] = await query(
    'select string_agg(sealed_env || sealed_secrets, $$ $$) as sealed from workload_versions where workload = $1',
    first.id,
  )
  assert.doesNotMatch(String(sealed), /KEY/)
})

test('an account has so many workloads, and a workload so many versions', { skip }, async () => {
  const account = 'acct_many'
  for (let nth = 0; nth < WORKLOADS_MAX; nth++) await deploy({ name: `many-${nth}` }, { account })
  const refused = { code: 'too_many_workloads', status: 409 }
  await assert.rejects(deploy({ name: 'more' }, { account }), {
    ...refused,
    message: 'Could not deploy "more": an account has at most 20 workloads',
  })
  await query(
    "select move_resource(id, 'failed') from resources where account = $1 and name > 'many-6'",
    account,
  )
  await assert.rejects(deploy({ name: 'more' }, { account }), {
    ...refused,
    message: /20 workloads; these never started, and can be deleted: many-7, many-8, many-9$/,
  })
  for (let nth = 0; nth < WORKLOAD_VERSIONS_MAX + 3; nth++) await deploy({ name: 'versions' })
  assert.equal((await deploy({ name: 'versions' })).versions.length, WORKLOAD_VERSIONS_MAX)
})

test('all workloads of an account have so many instances at least', { skip }, async () => {
  const account = 'acct_many'
  const scale = async (name: string, min: number) =>
    createWorkloadScale({ state: world.state, settings })(callOf({ min, max: 20 }, name, account))
  await scale('many-0', 20)
  await scale('many-1', 20)
  const refused = { code: 'too_many_instances', status: 409, param: 'scale' }
  await assert.rejects(scale('many-2', 20), refused)
  await scale('many-2', ACCOUNT_INSTANCES_MAX - 40)
  await assert.rejects(scale('many-3', 1), refused)
  await scale('many-0', 0)
  await scale('many-3', 1)
})

test('a host belongs to one account, and to one workload', { skip }, async () => {
  const routes = ['api.example.com']
  const { id } = await deploy({ name: 'host', routes })
  const taken = { code: 'host_taken', status: 409 }
  await assert.rejects(deploy({ name: 'other', routes }), taken)
  await assert.rejects(deploy({ name: 'theirs', routes }, { account: 'acct_b' }), taken)
  await assert.rejects(deploy({ name: 'own', routes: ['portal.localhost'] }), taken)
  await assert.rejects(deploy({ name: 'below', routes: ['a.portal.localhost'] }), taken)
  const hosts = async () =>
    (await query('select host from ingress_routes where resource = $1 order by host', id)).map(
      ({ host }) => host,
    )
  assert.deepEqual(await hosts(), ['api.example.com', 'host-acct-a.functions.localhost'])
  const rehost = (below: string) => rehostWorkloads({ state: world.state, log: quiet }, below)
  await rehost('apps.example.com')
  assert.deepEqual(await hosts(), ['api.example.com', 'host-acct-a.apps.example.com'])
  await rehost('functions.localhost')
  await createResourceDelete(SHOWN_WORKLOADS, { state: world.state })(callOf({}, 'host'))
  assert.deepEqual(await hosts(), [])
  assert.equal(
    (await deploy({ name: 'theirs', routes }, { account: 'acct_b' })).routes[0],
    routes[0],
  )
})

test('another region, and files of the machine, are refused', { skip }, async () => {
  await assert.rejects(deploy({ name: 'far', region: 'mars' }), { param: 'region' })
  assert.equal((await deploy({ name: 'near', region: 'auto' })).region, 'local')
  for (const image of [
    'oci:/etc',
    'oci:/srv/images/../etc',
    'oci:images',
    'docker-archive:/srv/images2/a',
  ])
    await assert.rejects(
      deploy({ name: 'files', image }),
      { code: 'image_refused', param: 'image' },
      image,
    )
  assert.equal((await deploy({ name: 'files', image: 'oci:/srv/images/a' })).version, 1)
})

test('a rollback finds the last version that did not fail', { skip }, async () => {
  const back = async (body: object) => replyOf(await rollBack('back', body))
  await deploy({ name: 'back' })
  await assert.rejects(back({}), { code: 'workload_version_not_found' })
  const { id } = await deploy({ name: 'back' })
  const third = await deploy({ name: 'back' })
  await makeLive(third)
  await query("update resource_versions set failure = 'x' where resource = $1 and version = 2", id)
  assert.equal((await back({})).version, 1)
  const named = await back({ version: 2 })
  assert.deepEqual(
    [named.version, named.versions.map(({ failure }) => failure)],
    [2, [null, null, null]],
  )
})

test(
  'the budget of a deleted workload limits its cells until they are gone',
  { skip },
  async () => {
    const { id } = await deploy({ name: 'burning', energy_budget: '1 kJ/day' })
    const budgets = async () => (await query('select from budgets where id = $1', id)).length
    await query('select delete_workload($1)', id)
    assert.equal(await budgets(), 1)
    await query('select remove_workload($1)', id)
    assert.equal(await budgets(), 1)
    await query("select move_resource($1, 'deleted')", id)
    assert.equal(await budgets(), 0)
  },
)

test('the facts of a workload are told once, in order', { skip }, async () => {
  const made = await deploy({ name: 'facts' })
  const { id } = made
  await makeLive(made)
  await makeLive(await deploy({ name: 'facts' }))
  const crashed = async (version: number) =>
    (await query('select mark_crash_loop($1, $2, 137, $3, 100) as is_told', id, version, 'why'))[0]
  assert.deepEqual(await crashed(1), { is_told: false })
  assert.deepEqual(await crashed(2), { is_told: true })
  assert.deepEqual(await crashed(2), { is_told: false })
  await query('select end_crash_loop($1)', id)
  await query('select hold_by_budget($1)', id)
  await query("select move_resource($1, 'suspended')", id)
  // Its budget is gone: nothing holds it any more.
  await query("select release_by_budget('workload', 1)")
  const [{ wanted } = {}] = await query('select wanted from resources where id = $1', id)
  assert.equal(wanted, 'deployed')
  await query("select move_resource($1, 'deployed')", id)
  const suspend = wishWorkload('workload.suspend')
  await createResourceChange(
    SHOWN_WORKLOADS,
    { state: world.state, settings },
    suspend,
  )(callOf({}, 'facts'))
  await query("select move_resource($1, 'suspended')", id)
  await query("select move_resource($1, 'suspended')", id)
  assert.deepEqual(
    (await eventsOf(id)).map(([type, { reason, exit_code: code }]) => [type, reason ?? code]),
    [
      ['workload.deployed', undefined],
      ['workload.crashed', 137],
      ['workload.suspended', 'energy_budget'],
      ['workload.suspended', 'manual'],
    ],
  )
})
