// Volumes of workloads as their owners use them: kept by versions, failures and restarts, limited, charged, deleted.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { isInMemory } from '../../scripts/test-memory.ts'
import { bookFaults } from '../books.ts'
import { ask, until } from './workload-client.ts'
import { workloadsOfFile, type TestWorkloads } from './workloads-of-file.ts'

const NEEDS_ROOT = { skip: process.getuid?.() !== 0 && 'needs root' }
const VOLUMES = [{ name: 'data', path: '/data', size: '32MB' }]

let ergon: TestWorkloads['ergon']
let client: TestWorkloads['client']
let image: TestWorkloads['image']
workloadsOfFile(
  {
    ERGON_WORKLOAD_READY_SECONDS: '4',
    ERGON_STORAGE_MINUTE_S: '1',
    ERGON_ACCOUNT_VOLUMES_MB: '1100000',
  },
  (made) => {
    ;({ ergon, client, image } = made)
  },
)

const text = async (url: string, path: string) => (await ask(url, path)).text

test(
  'a volume outlives versions, sleep and a version that fails; requests wait meanwhile',
  NEEDS_ROOT,
  async () => {
    const { url } = await client.deploy('kept', { image, volumes: VOLUMES, env: { VERSION: '1' } })
    assert.equal(await text(url, '/keep/one'), 'kept one')
    const ending = new AbortController()
    const statuses = new Map<number, number>()
    const asking = (async () => {
      while (!ending.signal.aborted) {
        const { status } = await ask(url, '/kept')
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        await pause(20)
      }
    })()
    const second = await client.deploy('kept', { image, env: { VERSION: '2' } })
    assert.equal(second.live_version, 2, JSON.stringify(second))
    assert.equal(await text(url, '/'), 'hello from version 2\n')
    assert.equal(await text(url, '/kept'), 'one')
    const failed = await client.deploy('kept', { image, env: { EXIT_AT_START: '7' } })
    assert.equal(failed.live_version, 2)
    assert.equal(await text(url, '/'), 'hello from version 2\n')
    assert.equal(await text(url, '/kept'), 'one')
    ending.abort()
    await asking
    assert.deepEqual([...statuses.keys()], [200])
  },
)

test(
  'a full volume is ENOSPC for its program alone, and its bytes are shown and charged',
  NEEDS_ROOT,
  async () => {
    const volumes = [{ name: 'data', path: '/data', size: '16MB' }]
    const { id, url } = await client.deploy('full', { image, volumes })
    assert.equal(await text(url, '/fill'), 'No space left on device')
    assert.equal(await text(url, '/keep/two'), 'kept two')
    const used = async () => (await client.show('full')).volumes[0]?.used_bytes ?? 0
    await until(used, (bytes) => bytes > 0 && bytes < 16_000_000)
    const [sample] = await until(
      () =>
        ergon.sql<{ bytes: string }>('select bytes::text from standing_samples where id = $1', [
          id,
        ]),
      (rows) => Number(rows[0]?.bytes) > 0,
    )
    assert.ok(Number(sample?.bytes) < 16_000_000)
    const sized = (size: string) =>
      client.deploy('full', { image, volumes: [{ ...volumes[0], size }] })
    // No disk of a test has that. The live version is not harmed, now or at its next start.
    const refused = await sized('1000GB')
    assert.equal(refused.live_version, 1)
    assert.match(
      refused.versions.find(({ version }) => version === 2)?.failure ?? '',
      /Could not make the volume "data" of 1000000 MB: the node has \d+ MB for volumes/,
    )
    const { status, body } = await client.api('POST', '', {
      name: 'full',
      image,
      volumes: [
        { ...volumes[0], size: '1000GB' },
        { name: 'b', path: '/b', size: '1000GB' },
      ],
    })
    assert.equal(status, 409, JSON.stringify(body))
    await client.api('POST', '/full/suspend', {})
    await client.api('POST', '/full/resume', {})
    await until(
      () => ask(url, '/kept'),
      (answer) => answer.text === 'two',
    )
    assert.equal((await sized('32MB')).live_version, 3)
    assert.equal(await text(url, '/kept'), 'two')
  },
)

test('a volume outlives suspension, and kill -9 of the node', NEEDS_ROOT, async () => {
  const { id, url } = await client.show('kept')
  await client.api('POST', '/kept/suspend', {})
  await until(
    () => client.show('kept'),
    ({ status }) => status === 'suspended',
  )
  assert.equal(devicesOf(id), '')
  await client.api('POST', '/kept/resume', {})
  await until(
    () => ask(url, '/kept'),
    (answer) => answer.text === 'one',
  )
  await ergon.kill()
  await ergon.resume()
  await until(
    () => ask(url, '/kept').catch(() => ({ text: '' })),
    (answer) => answer.text === 'one',
  )
})

test(
  'a volume goes with its workload, and what is due of it and of the image is charged',
  NEEDS_ROOT,
  async () => {
    const { id } = await client.show('kept')
    assert.ok(volumeFiles().includes(id), volumeFiles().join())
    const { stderr } = await ergon.cli('delete', 'kept')
    // The journal of its file system has 4 MB of blocks on a disk, and none in memory.
    const size = `${isInMemory(ergon.dataFolder) ? 0 : 4}\\.\\d MB`
    assert.match(
      stderr,
      new RegExp(`kept would be deleted, with the data of its volumes: data \\(${size}\\)`),
    )
    const { stdout } = await ergon.cli('workloads', 'show', 'kept')
    assert.match(stdout, new RegExp(`\\b${size} of 32MB, at /data`))
    // Worth less than a charge by itself.
    await ergon.sql(
      "update standing_samples set due_zj = 2e12 where kind in ('workload', 'image') and id = $1",
      [id],
    )
    assert.equal((await client.api('DELETE', '/kept')).status, 200)
    await until(
      async () => volumeFiles(),
      (files) => !files.includes(id),
    )
    assert.equal(devicesOf(id), '')
    await until(
      () =>
        ergon.sql(
          "select distinct operation from charges where operation in ('volume.standing', 'image.standing') and energy_nj > 0 and resource = $1",
          [id],
        ),
      (rows) => rows.length === 2,
    )
    assert.deepEqual(await bookFaults(ergon), [])
  },
)

const volumeFiles = () => readdirSync(join(ergon.dataFolder, 'volumes'))
/** Loop devices of its volumes. */
const devicesOf = (id: string) =>
  execFileSync('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path.includes(id))
    .join()
