import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { makeRunFolder, removeRunFolder } from './run-folder.ts'

const NOBODY = 65_534
const ROOT = { skip: process.geteuid?.() === 0 ? false : 'needs root' }

function shared(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-run-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o1777)
  return folder
}

const modeOf = (path: string) => lstatSync(path).mode & 0o7777

test('the run folder is open to pass only where cells have uids of their own', (t) => {
  const path = join(shared(t), 'run')
  const umask = process.umask(0o077)
  t.after(() => process.umask(umask))
  makeRunFolder(path, false)
  assert.equal(modeOf(path), 0o700)
  writeFileSync(join(path, 'left'), '')
  makeRunFolder(path, true)
  assert.equal(modeOf(path), 0o711)
  assert.deepEqual(readdirSync(path), [], 'what an earlier life has left is gone')
  removeRunFolder(path)
  assert.ok(!existsSync(path))
})

test('a link in its place is replaced and never followed', (t) => {
  const folder = shared(t)
  const target = join(folder, 'target')
  mkdirSync(target)
  writeFileSync(join(target, 'precious'), 'text')
  symlinkSync(target, join(folder, 'run'))
  makeRunFolder(join(folder, 'run'), false)
  assert.ok(lstatSync(join(folder, 'run')).isDirectory())
  assert.deepEqual(readdirSync(target), ['precious'])
})

for (const what of ['folder', 'link'] as const)
  test(`a ${what} of another user in its place is refused`, ROOT, (t) => {
    const folder = shared(t)
    const path = join(folder, 'run')
    const target = join(folder, 'target')
    mkdirSync(target, { mode: 0o777 })
    chmodSync(target, 0o777)
    if (what === 'link') symlinkSync(target, path)
    else mkdirSync(path, { mode: 0o777 })
    process.seteuid?.(NOBODY)
    try {
      assert.throws(() => makeRunFolder(path, false), { code: 'run_folder_taken' })
    } finally {
      process.seteuid?.(0)
    }
    assert.deepEqual(readdirSync(target), [])
  })
