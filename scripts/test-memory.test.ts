// The temporary folder of a test run: in memory, seen by the run alone, and gone with it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { whyOnDisk } from './test-memory.ts'

const PROGRAM = join(import.meta.dirname, 'test.ts')
const TOLD = `
  import { statfsSync, writeFileSync } from 'node:fs'
  import { tmpdir } from 'node:os'
  import { join } from 'node:path'
  import { test } from 'node:test'
  test('told', () => {
    writeFileSync(join(tmpdir(), 'left'), '')
    writeFileSync('told.json', JSON.stringify([tmpdir(), statfsSync(tmpdir()).type === 0x01021994]))
  })`

/** The runner is the parent of a file of tests. */
const kills = (signal: string) => `
  import { test } from 'node:test'
  test('kills', () => process.kill(process.ppid, '${signal}'))`

/** Runs a planted test with a temporary folder on the disk. */
async function runPlanted(t: TestContext, source: string, ...words: readonly string[]) {
  // Below the tree, as the temporary folder of this process may be in memory.
  const disk = mkdtempSync(join(import.meta.dirname, '..', '.cache', 'test-memory-'))
  t.after(() => rmSync(disk, { recursive: true }))
  for (const folder of ['src', 'tmp']) mkdirSync(join(disk, folder))
  writeFileSync(join(disk, 'package.json'), '{"type":"module"}')
  writeFileSync(join(disk, 'src', 'told.test.ts'), source)
  const { NODE_TEST_CONTEXT: _, ERGON_LONG: __, ERGON_TEST_CACHE: ___, ...env } = process.env
  const child = spawn(process.execPath, [PROGRAM, 'src/*.test.ts', ...words], {
    cwd: disk,
    env: { ...env, TMPDIR: join(disk, 'tmp') },
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: t.signal,
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const said = await text(child.stdout)
  return { disk, said, code: await ended, left: readdirSync(join(disk, 'tmp')) }
}

/** The folder that a planted test had, and what is left there. */
async function folderOf(t: TestContext, ...words: readonly string[]) {
  const { disk, said, code, left } = await runPlanted(t, TOLD, ...words)
  assert.equal(code, 0, said)
  const [folder, isInMemory] = JSON.parse(readFileSync(join(disk, 'told.json'), 'utf8')) as [
    string,
    boolean,
  ]
  return { isOwn: folder !== join(disk, 'tmp'), isInMemory, left }
}

test(
  'test-memory has the files of a run in memory, and leaves none',
  { skip: whyOnDisk() },
  async (t) => {
    assert.deepEqual(await folderOf(t), { isOwn: true, isInMemory: true, left: [] })
  },
)

test('test-memory leaves the files of a run on the disk where that is asked for', async (t) => {
  const { isOwn, left } = await folderOf(t, '--on-disk')
  assert.deepEqual({ isOwn, left }, { isOwn: false, left: ['left'] })
})

test(
  'test-memory leaves no folder of a run that a signal ends',
  { skip: whyOnDisk() },
  async (t) => {
    for (const [signal, number] of [
      ['SIGINT', 2],
      ['SIGTERM', 15],
    ] as const) {
      const { code, left } = await runPlanted(t, kills(signal))
      assert.deepEqual({ code, left }, { code: 128 + number, left: [] }, signal)
    }
  },
)
