// The files of volumes, by the tools of ext4.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createNodeVolumes } from './node-volumes.ts'
import { findImage, growVolumeImage, machineLacks, makeVolumeImage } from './volume-images.ts'

const SKIP = { skip: machineLacks(process.getuid?.() === 0 ? 'root' : 'user') }
const MB = 1_000_000
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const tool = (name: string, ...words: readonly string[]) =>
  execFileSync(name, words, { env: { PATH }, stdio: 'pipe', encoding: 'utf8' })
const blocksOf = (path: string) =>
  Number(/^Block count: *(\d+)$/m.exec(tool('dumpe2fs', '-h', path))?.[1])

test('a file system grows to its size', SKIP, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-images-'))
  try {
    const path = join(folder, 'vol_a.img')
    await makeVolumeImage(path, 16 * MB)
    await growVolumeImage(path, 40 * MB)
    assert.equal(blocksOf(path), Math.floor((40 * MB) / 4096))
    tool('e2fsck', '-f', '-n', path)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a tool of an agent that was killed has ended before the next one begins', SKIP, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-images-'))
  try {
    const path = join(folder, 'vol_a.img')
    await makeVolumeImage(path, 16 * MB)
    renameSync(path, `${path}.growing`)
    const left = spawn('flock', [
      '--no-fork',
      '-x',
      `${path}.growing`,
      'sh',
      '-c',
      'echo; exec sleep 60',
    ])
    await once(left.stdout, 'data')
    let isGrown = false
    const growing = growVolumeImage(path, 40 * MB).then(() => (isGrown = true))
    await pause(300)
    assert.equal(isGrown, false)
    left.kill('SIGKILL')
    await growing
    assert.equal(blocksOf(path), Math.floor((40 * MB) / 4096))
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test(
  'a volume whose file system needs a person stays as it is, and its version fails with the reason',
  SKIP,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ergon-images-'))
    try {
      const { open } = createNodeVolumes(folder, '/nowhere', undefined, {
        bytes: 0,
        keep: async () => true,
        promise: async (make) => void (await make()),
        close: async () => undefined,
      })
      const wait = { signal: new AbortController().signal, waits: () => undefined }
      const sized = (bytes: number) => ({
        id: 'wl_a',
        volumes: [{ id: 'vol_a', name: 'data', path: '/data', bytes }],
      })
      await open(sized(16 * MB), wait)
      const path = join(folder, 'wl_a', 'vol_a.img')
      // The inode of the root folder.
      tool('debugfs', '-w', '-R', 'clri <2>', path)
      const { size } = statSync(path)
      await assert.rejects(open(sized(40 * MB), wait), {
        code: 'workload_failed',
        message:
          'Could not grow the volume "data": its file system has faults that e2fsck does not mend by itself',
      })
      assert.deepEqual(readdirSync(join(folder, 'wl_a')), ['vol_a.img'])
      assert.deepEqual(await findImage(path), { sizeBytes: size, isWhole: true })
      // The version before opens the volume as before.
      await open(sized(16 * MB), wait)
      // A kill amid a growth left the file at its new size.
      renameSync(path, `${path}.growing`)
      truncateSync(`${path}.growing`, 40 * MB)
      await assert.rejects(open(sized(40 * MB), wait), { code: 'workload_failed' })
      assert.deepEqual(await findImage(path), { sizeBytes: size, isWhole: true })
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
