import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

import { withIdentity } from './prepare.ts'
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
  const [a, b] = [await one.uidOf('postgres', 'folders'), await two.uidOf('postgres', 'folders')]
  assert.notEqual(a, b)
  await Promise.all([one.release(), two.release()])
})

test('cells and groups keep their numbers from start to start', async (t) => {
  const { claim } = machine(t)
  const first = await claim('one')
  const names = ['postgres', 'gw-1', 'gw-2', 'constructor']
  const uids = await Promise.all(names.map((name) => first.uidOf(name, 'folders')))
  const gid = await first.gidOf('postgres')
  assert.equal(new Set([...uids, gid]).size, names.length + 1)
  assert.ok(uids.every(Number.isInteger))
  await first.release()

  const second = await claim('one')
  assert.deepEqual(second.range, first.range)
  assert.deepEqual(
    await Promise.all(names.toReversed().map((name) => second.uidOf(name, 'folders'))),
    uids.toReversed(),
  )
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
  const given = [await uids.uidOf('a', 'folders'), await uids.uidOf('b', 'folders')]
  assert.deepEqual(given, [1_999_000_000, 1_999_000_001])
  await assert.rejects(uids.uidOf('c', 'nothing'), /No number is left/)
  assert.equal(await uids.gidOf('a'), 1_999_000_002)
  await uids.release()
})

/** Four numbers, of which two are uids. */
const small = async (root: string) =>
  await claimUids({
    claimsFolder: join(root, 'claims'),
    recordPath: join(root, 'record.json'),
    range: { first: 1_999_000_000, count: 4 },
  })

test('the number of a name that nothing exists of is given to another once none is left', async (t) => {
  const root = newFolder(t)
  const uids = await small(root)
  const kept = await uids.uidOf('db', 'folders')
  const first = await uids.uidOf('fn-1', 'nothing')
  // Two versions of it run.
  assert.equal(await uids.uidOf('fn-1', 'nothing'), first)
  uids.rest('fn-1')
  uids.rest('db')
  await assert.rejects(uids.uidOf('fn-2', 'nothing'), /No number is left/)
  uids.rest('fn-1')
  assert.equal(await uids.uidOf('fn-2', 'nothing'), first)
  await assert.rejects(uids.uidOf('fn-1', 'nothing'), /No number is left/)
  assert.equal(await uids.uidOf('db', 'folders'), kept)
  await uids.release()
  // At the next start nothing runs.
  const next = await small(root)
  assert.equal(await next.uidOf('fn-1', 'nothing'), first)
  // A name that came to own folders keeps its number.
  assert.equal(await next.uidOf('fn-1', 'folders'), first)
  next.rest('fn-1')
  next.rest('fn-1')
  await assert.rejects(next.uidOf('fn-3', 'nothing'), /No number is left/)
  await next.disown('fn-1')
  assert.equal(await next.uidOf('fn-3', 'nothing'), first)
  await next.release()
})

test('a name of an older record, which may own folders, keeps its number', async (t) => {
  const root = newFolder(t)
  const record = { instance: 'x', cells: { a: 0, b: 1 }, groups: {} }
  writeFileSync(join(root, 'record.json'), JSON.stringify(record))
  const uids = await small(root)
  assert.equal(await uids.uidOf('b', 'nothing'), 1_999_000_001)
  uids.rest('b')
  await assert.rejects(uids.uidOf('c', 'nothing'), /No number is left/)
  await uids.release()
})

test('a cell that gets no group keeps no uid', async (t) => {
  const uids = await small(newFolder(t))
  for (const group of ['a', 'b']) await uids.gidOf(group).catch(() => undefined)
  const spec = { name: 'fn-1', socketGroup: 'c', calls: [], writes: [] }
  const never = () => Promise.reject(new Error('not asked'))
  await assert.rejects(
    withIdentity(spec as never, { uids } as never, never),
    /No number is left in the uid range for: c/,
  )
  for (const name of ['fn-2', 'fn-3']) await uids.uidOf(name, 'nothing')
  await uids.release()
})
