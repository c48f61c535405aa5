// Volumes of deployments: they grow, count in the quota of their account, and are left out by name alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VOLUMES_WAIT } from '#contract/resources/passing-reasons.ts'
import type { WorkloadReply } from '#contract/workloads/workload-replies.ts'
import { quiet } from '#postgres/testing.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { NotWanted } from '#resources/instances.ts'
import { mountedVolumes, readWorkloadVersion } from '#workloads/read-version.ts'
import { wholeBlocks } from './volume-images.ts'
import { noteWaits, openVolumes } from './volume-rows.ts'
import {
  BYTES_PER_MB,
  replyOf,
  workloadsOfAccounts,
} from '#workloads/operations/workload-calls.fixture.ts'

const skip = whyNoState()
const VOLUME = { name: 'data', path: '/data', size: '32MB' }
const VOLUMES = [VOLUME]
const world = workloadsOfAccounts()
const { change, deploy, makeLive, query, rollBack } = world

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
      const row = await readWorkloadVersion(world.state, id, version)
      const lacking = row.volumes.flatMap(({ name, id: volume }) => {
        const bytes = hasBytes[name]
        return bytes === undefined ? [] : [[volume, bytes] as const]
      })
      const volumes = { lacking: async () => new Map(lacking) } as never
      return await openVolumes(
        { state: world.state, driver: { volumes } },
        { id, version, volumes: mountedVolumes(row.volumes) },
        work,
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

test('a wait of an earlier try is told no more once the volumes are open', { skip }, async () => {
  const { id } = await deploy({ name: 'noted', volumes: VOLUMES })
  await query('update resources set reason = $2 where id = $1', id, VOLUMES_WAIT.room)
  const wait = { signal: new AbortController().signal, waits: () => undefined }
  await noteWaits({ state: world.state, log: quiet }, { id, wait }, async () => undefined)
  const [shown] = await query('select reason from resources where id = $1', id)
  assert.equal(shown?.['reason'], null)
})

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
