import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

import { claimUids } from './uids.ts'

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'uids-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function machine(t: TestContext) {
  const root = newFolder(t)
  const claim = (instance: string) =>
    claimUids({ claimsFolder: join(root, 'claims'), recordPath: join(root, `${instance}.json`) })
  return { claim }
}

test('two instances of a machine never share a uid', async (t) => {
  const { claim } = machine(t)
  const [one, two] = await Promise.all([claim('one'), claim('two')])
  assert.notEqual(one.range.first, two.range.first)
  const [a, b] = [await one.uidOf('postgres'), await two.uidOf('postgres')]
  assert.notEqual(a, b)
  await Promise.all([one.release(), two.release()])
})

test('cells and groups keep their numbers from start to start', async (t) => {
  const { claim } = machine(t)
  const first = await claim('one')
  const names = ['postgres', 'gw-1', 'gw-2', 'constructor']
  const uids = await Promise.all(names.map((name) => first.uidOf(name)))
  const gid = await first.gidOf('postgres')
  assert.equal(new Set([...uids, gid]).size, names.length + 1)
  assert.ok(uids.every(Number.isInteger))
  await first.release()

  const second = await claim('one')
  assert.deepEqual(second.range, first.range)
  assert.deepEqual(await Promise.all(names.toReversed().map(second.uidOf)), uids.toReversed())
  assert.equal(await second.gidOf('postgres'), gid)
  await second.release()
})

test('an instance that lost its range to another takes a new one', async (t) => {
  const { claim } = machine(t)
  const copied = await claim('one')
  // The same record at the same time: a copy of a data folder.
  const copy = await claim('one')
  assert.notEqual(copy.range.first, copied.range.first)
  await Promise.all([copy.release(), copied.release()])
})

test('uidOf() refuses names when the range is used up', async (t) => {
  const root = newFolder(t)
  const uids = await claimUids({
    claimsFolder: root,
    recordPath: join(root, 'record.json'),
    range: { first: 1_999_000_000, count: 4 },
  })
  const given = [await uids.uidOf('a'), await uids.uidOf('b')]
  assert.deepEqual(given, [1_999_000_000, 1_999_000_001])
  await assert.rejects(uids.uidOf('c'), /No number is left/)
  assert.equal(await uids.gidOf('a'), 1_999_000_002)
  await uids.release()
})
