// Deployments, holds and events of workloads on a state of their own, without anything that runs them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEncryptionKey } from '#base/encryption.ts'
import {
  ACCOUNT_INSTANCES_MAX,
  WORKLOADS_MAX,
  WORKLOAD_VERSIONS_MAX,
} from '#contract/workload-limits.ts'
import type { WorkloadReply } from '#contract/workload-replies.ts'
import type { WorkloadChange } from '#contract/workloads.ts'
import {
  createResourceChange,
  createResourceDelete,
  createResourceDeploy,
} from '#http/resource-operations.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { NotWanted } from '#resources/instances.ts'
import type { State } from '#state/connect.ts'
import { mountedVolumes, readWorkloadVersion } from '#workloads/read-version.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { wholeBlocks } from '#workloads/volumes/volume-images.ts'
import { openVolumes } from '#workloads/volumes/volume-rows.ts'
import { deployWorkload } from './deploy-workload.ts'
import { SHOWN_WORKLOADS } from './find-workload.ts'
import { createWorkloadRollBack } from './workload-rollback.ts'
import { createWorkloadScale, createWorkloadUpdate } from './workload-update.ts'
import { wishWorkload } from './workload-wish.ts'

const skip = whyNoState()
const ACCOUNTS = ['acct_a', 'acct_b', 'acct_many', 'acct_disk', 'acct_grow']
const BYTES_PER_MB = 1_000_000
const settings: WorkloadGatewaySettings = {
  address: {
    host: 'functions.localhost',
    origin: 'http://localhost:8082',
    named: 'http://*.functions.localhost:8082',
  },
  environmentKey: newEncryptionKey(),
  region: 'local',
  ownHosts: ['portal.localhost'],
  images: { imageFolder: '/srv/images' },
  volumeBytesMax: 200 * BYTES_PER_MB,
}

let state: State
ledgerOfFile(2, async (made) => {
  state = made
  for (const id of ACCOUNTS) {
    await addTestAccount(state, { id, env: 'test', lowWater: 0n })
    await addTestMember(state, id)
  }
})

const callOf = (body: object, name = '', account = 'acct_a') =>
  ({
    who: { account, token: `tok_${account}`, member: `mem_${account}` },
    spend: { requestId: 'req_a' },
    parameters: { workload: name },
    body,
  }) as never
const replyOf = (made: unknown): WorkloadReply => (made as { body: () => WorkloadReply }).body()
const deploy = async (
  body: WorkloadChange & { readonly name: string; readonly region?: string },
  given: Partial<WorkloadGatewaySettings> & { readonly account?: string } = {},
): Promise<WorkloadReply> => {
  const handle = createResourceDeploy(
    SHOWN_WORKLOADS,
    { state, settings: { ...settings, ...given } },
    deployWorkload,
  )
  return replyOf(await handle(callOf({ image: 'api:1', ...body }, '', given.account)))
}
const change = async (name: string, body: WorkloadChange) =>
  replyOf(await createWorkloadUpdate({ state, settings })(callOf(body, name)))
const query = async (text: string, ...values: unknown[]) =>
  (await state.query<Record<string, unknown>>(text, values)).rows
const eventsOf = async (id: string) =>
  (
    await query(
      "select type, data from events where data ->> 'workload_id' = $1 order by sequence",
      id,
    )
  ).map(({ type, data }) => [type, data as Record<string, unknown>] as const)
/** As the reconciler does. */
async function makeLive({ id, version }: WorkloadReply): Promise<void> {
  await query('select hold_volume_sizes($1, $2)', id, version)
  await query('select make_workload_live($1, $2, $3)', id, version, 'http://x')
  await query(
    "select move_resource(id, 'deploying') from resources where id = $1 and actual = 'pending'",
    id,
  )
  await query("select move_resource($1, 'deployed')", id)
}

test('a node that runs no containers says so', async () => {
  await assert.rejects(deploy({ name: 'none' }, { address: undefined }), {
    code: 'workloads_off',
    status: 503,
  })
})

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
    createWorkloadScale({ state, settings })(callOf(body, 'api'))
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
  await assert.rejects(deploy({ name: 'more' }, { account }), { code: 'too_many_workloads' })
  for (let nth = 0; nth < WORKLOAD_VERSIONS_MAX + 3; nth++) await deploy({ name: 'versions' })
  assert.equal((await deploy({ name: 'versions' })).versions.length, WORKLOAD_VERSIONS_MAX)
})

test('all workloads of an account have so many instances at least', { skip }, async () => {
  const account = 'acct_many'
  const scale = async (name: string, min: number) =>
    createWorkloadScale({ state, settings })(callOf({ min, max: 20 }, name, account))
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
  await query('select rehost_workloads($1)', 'apps.example.com')
  assert.deepEqual(await hosts(), ['api.example.com', 'host-acct-a.apps.example.com'])
  await query('select rehost_workloads($1)', 'functions.localhost')
  await createResourceDelete(SHOWN_WORKLOADS, { state })(callOf({}, 'host'))
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

const rollBack = async (
  name: string,
  body: object,
  { account, ...more }: { readonly account?: string } & Partial<WorkloadGatewaySettings> = {},
) => {
  const deps = { state, settings: { ...settings, ...more } }
  const handle = createResourceChange(SHOWN_WORKLOADS, deps, createWorkloadRollBack(deps.settings))
  return handle(callOf(body, name, account))
}

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

const VOLUME = { name: 'data', path: '/data', size: '32MB' }
const VOLUMES = [VOLUME]

test('a volume only grows, and is left out by name alone', { skip }, async () => {
  const shown = ({ volumes }: WorkloadReply) =>
    volumes.map(({ name, path, size_bytes: size }) => [name, path, size])
  const first = await deploy({ name: 'disk', volumes: VOLUMES })
  await makeLive(first)
  assert.deepEqual(shown(first), [['data', '/data', 32_000_000]])
  assert.equal((await change('disk', { memory: '64MB' })).volumes.length, 1)
  const sized = (size: string) => change('disk', { volumes: [{ ...VOLUME, size }] })
  await assert.rejects(sized('31MB'), { code: 'volume_smaller', status: 409, param: 'volumes' })
  await makeLive(await sized('64MB'))
  assert.deepEqual(shown(await change('disk', { cpu: 2 })), [['data', '/data', 64_000_000]])
  await assert.rejects(change('disk', { volumes: [] }), { code: 'volume_left_out', status: 409 })
  await assert.rejects(change('disk', { scale: { max: 2 } }), { param: 'scale' })
  // It is there until the version without it answers.
  const without = await change('disk', { volumes: [], delete_volumes: ['data'] })
  assert.deepEqual(shown(without), [['data', '/data', 64_000_000]])
  await makeLive(without)
  const [{ count } = {}] = await query(
    'select count(*)::int from workload_volumes where workload = $1',
    first.id,
  )
  assert.equal(count, 0)
  assert.equal((await change('disk', { scale: { max: 2 } })).scale.max, 2)
  const back = (body: object) => rollBack('disk', body)
  await assert.rejects(back({ version: 1 }), { code: 'workload_version_not_found' })
  const again = change('disk', { volumes: VOLUMES })
  await assert.rejects(again, { code: 'invalid_request', param: 'scale' })
})

test('all volumes of an account have so many bytes, full or not', { skip }, async () => {
  const account = 'acct_disk'
  const sized = (name: string, size: string, more: object = {}) =>
    deploy({ name, volumes: [{ ...VOLUME, size }], ...more }, { account })
  const refused = { code: 'volume_quota_exceeded', status: 409, param: 'volumes' }
  const first = await sized('first', '150MB')
  await makeLive(first)
  const words = { ...refused, message: /have 150 MB of 200 MB, and would have 201 MB/ }
  await assert.rejects(sized('second', '51MB'), words)
  const [none] = await query(
    "select from resources where name = 'second' and account = $1",
    account,
  )
  assert.equal(none, undefined)
  await assert.rejects(sized('first', '201MB'), refused)
  // Two at once: each alone would fit.
  const both = await Promise.allSettled([sized('third', '50MB'), sized('fourth', '50MB')])
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  // A lower quota refuses growth alone.
  const lower = { account, volumeBytesMax: 100 * BYTES_PER_MB }
  const kept = { name: 'first', volumes: [{ ...VOLUME, size: '150MB' }], cpu: 2 }
  assert.equal((await deploy(kept, lower)).version, 2)
  // A volume that is left out counts until its file is deleted.
  await makeLive(first)
  const without = await deploy(
    { name: 'first', volumes: [], delete_volumes: ['data'] },
    { account },
  )
  await assert.rejects(sized('second', '150MB'), refused)
  await makeLive(without)
  await sized('second', '150MB')
})

test(
  'a volume is of the quota before its file grows, and no more where it could not grow',
  { skip },
  async () => {
    const account = 'acct_grow'
    const volumesOf = (size: string) => [
      { ...VOLUME, size },
      { name: 'more', path: '/more', size },
    ]
    const deployed = (size: string) =>
      deploy({ name: 'grow', volumes: volumesOf(size) }, { account })
    const open = async (
      { id, version }: WorkloadReply,
      work: () => Promise<unknown>,
      hasBytes: Readonly<Record<string, number>> = {},
    ) => {
      const row = await readWorkloadVersion(state, id, version)
      const lacking = row.volumes.flatMap(({ name, id: volume }) => {
        const bytes = hasBytes[name]
        return bytes === undefined ? [] : [[volume, bytes] as const]
      })
      const volumes = { open: work, lacking: async () => new Map(lacking) } as never
      return await openVolumes(
        { state, driver: { volumes } },
        { id, version, volumes: mountedVolumes(row.volumes) },
      )
    }
    const noted = async () =>
      (
        await query(
          'select size_bytes::int as size from workload_volumes v join resources n on n.id = v.workload where account = $1 order by v.name',
          account,
        )
      ).map(({ size }) => Number(size) / BYTES_PER_MB)
    const first = await deployed('20MB')
    await open(first, async () => undefined)
    const second = await deployed('80MB')
    const beside = () =>
      deploy({ name: 'beside', volumes: [{ ...VOLUME, size: '60MB' }] }, { account })
    const grown = await open(second, async () => {
      await assert.rejects(deployed('20MB'), { code: 'volume_smaller' })
      await assert.rejects(beside(), { code: 'volume_quota_exceeded' })
    })
    assert.deepEqual(
      [grown.map(({ bytes }) => bytes / BYTES_PER_MB), await noted()],
      [
        [80, 80],
        [80, 80],
      ],
    )
    // One of the two files has grown before the disk has no room.
    const third = await deployed('90MB')
    const noRoom = async () => Promise.reject(new Error('no room'))
    const failing = open(third, noRoom, { more: wholeBlocks(80 * BYTES_PER_MB) })
    await assert.rejects(failing, /no room/)
    assert.deepEqual(await noted(), [90, 80])
    await makeLive(third)
    // A version that nobody wants any more has no quota for its files.
    const untouched = () => assert.fail('its files are not touched')
    await assert.rejects(open(second, untouched), NotWanted)
    // The try before was cut off by a kill: its size is noted, and no file has it.
    const fourth = await deployed('95MB')
    await query('select hold_volume_sizes($1, $2)', fourth.id, fourth.version)
    assert.deepEqual(await noted(), [95, 95])
    await assert.rejects(open(fourth, noRoom, { more: 90.112 * BYTES_PER_MB }), /no room/)
    assert.deepEqual(await noted(), [95, 90.112])
  },
)

test(
  'a rollback to a version that wants a larger volume is held to the quota',
  { skip },
  async () => {
    const account = 'acct_disk'
    const sized = (name: string, size: string) =>
      deploy(
        { name, volumes: [{ ...VOLUME, size }] },
        { account, volumeBytesMax: 1000 * BYTES_PER_MB },
      )
    await sized('back', '500MB')
    await sized('back', '32MB')
    const back = (more: object) => rollBack('back', { version: 1 }, { account, ...more })
    await assert.rejects(back({}), { code: 'volume_quota_exceeded' })
    await back({ volumeBytesMax: 1000 * BYTES_PER_MB })
  },
)

test(
  'a rollback keeps volumes that are to be deleted, and those of later versions',
  { skip },
  async () => {
    const names = async (reply: Promise<unknown>) =>
      replyOf(await reply).volumes.map(({ name, path }) => [name, path])
    const back = (body: object) => rollBack('keeps', body)
    await makeLive(await deploy({ name: 'keeps', volumes: VOLUMES }))
    const more = { name: 'more', path: '/more', size: '16MB' }
    await makeLive(await deploy({ name: 'keeps', volumes: [...VOLUMES, more] }))
    assert.deepEqual(await names(back({})), [
      ['data', '/data'],
      ['more', '/more'],
    ])
    await query(
      "select make_workload_live(id, 1, 'http://x') from workloads join resources using (id) where name = 'keeps'",
    )
    assert.deepEqual(await names(back({ version: 1 })), [
      ['data', '/data'],
      ['more', null],
    ])
    await deploy({ name: 'keeps', volumes: [more], delete_volumes: ['data'] })
    await names(back({ version: 1 }))
    await assert.rejects(deploy({ name: 'keeps', volumes: [more] }), { code: 'volume_left_out' })
  },
)

test('a node without volumes says why', { skip }, async () => {
  const given = { whyNoVolumes: 'there are no loop devices' }
  await assert.rejects(deploy({ name: 'none', volumes: VOLUMES }, given), {
    code: 'volumes_off',
    status: 503,
    message: /no loop devices/,
  })
})

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
  await createResourceChange(SHOWN_WORKLOADS, { state, settings }, suspend)(callOf({}, 'facts'))
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
