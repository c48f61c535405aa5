// The live version of a workload with volumes answers until the next one waits for nothing any more.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { lockFile } from '#base/lock.ts'
import { VOLUMES_WAIT } from '#contract/resources/passing-reasons.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { NotWanted } from '#resources/instances.ts'
import { NotYet } from '#resources/reconciler.ts'
import type { State } from '#state/connect.ts'
import type { WorkloadDriver } from './driver.ts'
import { createNodeVolumes } from './volumes/node-volumes.ts'
import { ACCOUNT, driverOf, signal, workloadsOn } from './workloads.fixture.ts'

const skip = whyNoState()
const MIB = 1_048_576
const reasonOf = async (state: State) =>
  (await state.query<{ reason: string | null }>('select reason from resources')).rows[0]?.reason

/** Files of volumes without file systems, whose room another program may reserve; the versions that run, and that ended. */
async function withVolumes(
  work: (given: {
    readonly state: State
    readonly running: number[]
    readonly ended: number[]
    readonly driver: WorkloadDriver
    readonly lock: string
    readonly grown: { before: () => Promise<void> }
  }) => Promise<void>,
): Promise<void> {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 3)
  const folder = mkdtempSync(join(tmpdir(), 'ergon-live-'))
  const lock = join(folder, 'lock')
  writeFileSync(lock, '')
  const [running, ended]: [number[], number[]] = [[], []]
  const grown = { before: async () => undefined as void }
  const sizeIt = (path: string, bytes: number) => {
    writeFileSync(path, '', { flag: 'a' })
    truncateSync(path, bytes)
  }
  const makers = {
    make: async (path: string, bytes: number) => sizeIt(path, bytes),
    async grow(path: string, bytes: number) {
      await grown.before()
      sizeIt(path, bytes)
    },
  }
  const volumes = createNodeVolumes(join(folder, 'volumes'), lock, makers)
  const plain = driverOf(running)
  const driver: WorkloadDriver = {
    ...plain,
    volumes,
    async start(spec, ...given) {
      const instance = await plain.start(spec, ...given)
      const end: typeof instance.end = async (...why) => {
        ended.push(spec.version)
        await instance.end(...why)
      }
      return { ...instance, end }
    },
  }
  try {
    await work({ state, running, ended, driver, lock, grown })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const sized = (size: number) => ({
  volumes: [{ name: 'data', path: '/data', size_bytes: size }],
  deletable_volumes: [],
})

test('the live version goes on while the volume of the next one waits for room', { skip }, () =>
  withVolumes(async ({ state, running, ended, driver, lock, grown }) => {
    const { workloads, deployed, deploy } = await workloadsOn(state, {
      running,
      driver,
      readyMs: 1500,
    })
    const id = await deployed('one', 'web', sized(MIB))
    const web = { id, account: ACCOUNT, name: 'web' }
    assert.equal(await deploy(id), undefined)
    const pull = await lockFile(lock, undefined, { read: true })
    await deployed('two', 'web', sized(2 * MIB))
    const late = await deploy(id).catch((error: unknown) => error)
    assert.ok(late instanceof NotYet, String(late))
    assert.deepEqual([running, ended, await reasonOf(state)], [[1], [], VOLUMES_WAIT.room])
    const wish = new AbortController()
    const unwanted = workloads
      .deploy(web, wish.signal, () => undefined)
      .catch((error: unknown) => error)
    await pause(200)
    const { release } = await workloads.use(web, signal, 1)
    release()
    wish.abort(new NotWanted('suspended'))
    assert.ok((await unwanted) instanceof NotWanted)
    assert.deepEqual([running, ended], [[1], []])
    await pull.release()
    const seen: unknown[] = []
    grown.before = async () => void seen.push([...running], await reasonOf(state))
    assert.equal(await deploy(id), undefined)
    assert.deepEqual([running, ended, seen], [[2], [1], [[], null]])
    workloads.close()
  }),
)

test('a version that another one replaces while its volume waits ends no live one', { skip }, () =>
  withVolumes(async ({ state, running, ended, driver, lock }) => {
    const { workloads, deployed, deploy } = await workloadsOn(state, { running, driver })
    const id = await deployed('one', 'web', sized(MIB))
    assert.equal(await deploy(id), undefined)
    const pull = await lockFile(lock, undefined, { read: true })
    await deployed('two', 'web', sized(2 * MIB))
    const replaced = deploy(id).catch((error: unknown) => error)
    await pause(100)
    await deployed('three', 'web', sized(MIB))
    await pull.release()
    assert.ok((await replaced) instanceof NotWanted)
    assert.deepEqual([running, ended], [[1], []])
    assert.equal(await deploy(id), undefined)
    assert.deepEqual([running, ended], [[3], [1]])
    workloads.close()
  }),
)

test(
  'a version that its image cannot run, or with a volume that cannot be made, ends no live one',
  { skip },
  () =>
    withVolumes(async ({ state, running, ended, driver, lock }) => {
      let isFit = true
      const fitting: WorkloadDriver = {
        ...driver,
        assertFit() {
          if (!isFit) throw new Error('no place for the volume')
        },
      }
      const { workloads, deployed, deploy } = await workloadsOn(state, { running, driver: fitting })
      const id = await deployed('one', 'web', sized(MIB))
      assert.equal(await deploy(id), undefined)
      await deployed('two', 'web', sized(2 * MIB))
      isFit = false
      await assert.rejects(deploy(id), /no place/)
      isFit = true
      rmSync(lock)
      await assert.rejects(deploy(id), /ENOENT/)
      assert.deepEqual([running, ended], [[1], []])
      workloads.close()
    }),
)

const MEMORY = { memoryBytes: 2, readyMs: 300 }
for (const [what, volumes] of [
  ['a volume', sized(MIB)],
  ['no volume', {}],
] as const)
  test(
    `a version with ${what} that others leave too little memory ends no live one`,
    { skip },
    () =>
      withVolumes(async ({ state, running, ended, driver }) => {
        const { workloads, deployed, deploy } = await workloadsOn(state, {
          running,
          driver,
          ...MEMORY,
        })
        assert.equal(await deploy(await deployed('other', 'other'), 'other'), undefined)
        const id = await deployed('one', 'web', volumes)
        assert.equal(await deploy(id), undefined)
        await deployed('two', 'web', { memory_bytes: 2 })
        assert.equal(await deploy(id), undefined)
        const { rows } = await state.query<{ failure: string | null }>(
          'select failure from resource_versions where resource = $1 and version = 2',
          [id],
        )
        assert.match(rows[0]?.failure ?? '', /needs 0 MB of memory/)
        assert.deepEqual([running, ended], [[1, 1], []])
        workloads.close()
      }),
  )
