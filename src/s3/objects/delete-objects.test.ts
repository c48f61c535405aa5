import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { wireBody, type Reply } from '#http/reply.ts'
import type { Bucket } from '#objects/types.ts'
import { createAccess } from '#s3/policy/access.ts'
import type { StorageRequest } from '#s3/call.ts'
import type { Parts } from '#s3/parts.ts'
import { Judging, ACTION_STEPS, JUDGING_STEPS_MAX } from '#s3/policy/judging.ts'
import { parsePolicy } from '#s3/policy/policy.ts'
import { createDeleteObjects } from './delete-objects.ts'

const ALLOW = { Effect: 'Allow', Principal: '*', Action: 's3:DeleteObject' }

/** A stranger's request for these keys of a bucket with this policy, whose objects are all deleted. */
function asked(
  statements: readonly object[],
  keys: readonly string[],
  { refused = false, caller = undefined as object | undefined, blobs = 1, locked = 0 } = {},
) {
  const told = { read: 0, deleted: 0, admitted: 0, marks: 0, steps: 0, stepsAtOnce: 0, units: 0 }
  const policy = parsePolicy(
    JSON.stringify({ Statement: statements.map((one) => ({ ...ALLOW, ...one })) }),
    'b',
  )
  const bucket = { name: 'b', account: 'acct_a', configurations: { policy } } as unknown as Bucket
  const admitTransfer = async () => {
    assert.equal(told.read, 0, 'before it is read')
    if (refused) throw fault('too_many_requests', 'Could not take the request')
    told.admitted++
  }
  const objects = {
    async delete(_: Bucket, deletions: readonly object[]) {
      const before = told.deleted
      told.deleted += deletions.length
      return deletions.map((_one, nth) =>
        before + nth < locked
          ? { code: 'AccessDenied' }
          : { versionId: undefined, deleteMarker: false, blobs },
      )
    },
  }
  const access = createAccess({
    buckets: { get: async () => bucket },
    clock: { wallMs: () => 0 },
    objects,
    admitTransfer,
  } as unknown as Parameters<typeof createAccess>[0])
  const body = keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')
  const receiver = {
    async document() {
      told.read++
      return Buffer.from(`<Delete>${body}</Delete>`)
    },
  }
  let before = 0
  class Counting extends Judging {
    override spend(steps: number) {
      told.steps += steps
      told.stepsAtOnce = Math.max(told.stepsAtOnce, told.steps - before)
      super.spend(steps)
    }
  }
  const request = {
    caller,
    signal: new AbortController().signal,
    spend: {
      countUnits: (count: number) => void (told.units += count),
      mark() {
        told.marks++
        before = told.steps
      },
    },
    body: {
      judging: new Counting(),
      headers: {},
      target: { bucket: 'b', query: new Map() },
      client: { address: '203.0.113.7', isSecure: true },
      trace: {},
    },
  } as unknown as StorageRequest
  const deps = { access, objects, receiver, admitTransfer } as unknown as Parts
  return { told, request, run: () => createDeleteObjects(deps)(request) }
}

const textOf = (reply: Reply): string => {
  assert.ok(reply.kind === 'known')
  return String(wireBody(reply.body({} as Charge)))
}

const keysOf = (count: number, key: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => key(index))

test('DeleteObjects judges 1000 keys by a large policy, in turns that others have theirs between', async () => {
  const Resource = keysOf(200, (index) => `arn:aws:s3:::b/team-${index}/*/drafts/*`)
  const keys = keysOf(1000, (index) => `team-${index}/photos/2026/drafts/${'x'.repeat(80)}`)
  const { told, run } = asked([{ Resource }], keys)
  let turns = 0
  let others = setImmediate(function again() {
    turns++
    others = setImmediate(again)
  })
  const text = textOf(await run().finally(() => clearImmediate(others)))
  assert.equal(text.match(/<Deleted>/g)?.length, 200)
  assert.equal(text.match(/<Code>AccessDenied</g)?.length, 800)
  assert.deepEqual([told.deleted, told.admitted, told.marks], [200, 1, 125])
  assert.ok(turns >= 124, String(turns))
})

test('DeleteObjects refuses all when a policy made to take long is asked for 1000 keys', async () => {
  const runs = ['a'.repeat(100), `?${'a'.repeat(100)}`, 'a']
  for (const run of runs) {
    const pattern = `arn:aws:s3:::b/*${run}b*`
    const Resource = keysOf(Math.floor(20_000 / (pattern.length + 3)), () => pattern)
    const keys = keysOf(1000, (index) => 'a'.repeat(1000) + String(index))
    const { told, run: remove } = asked([{ Resource }], keys)
    await assert.rejects(remove(), (error: ErgonError) => error.code === 'AccessDenied')
    assert.deepEqual([told.deleted, told.admitted], [0, 1])
    assert.ok(told.steps <= JUDGING_STEPS_MAX + 2000 * ACTION_STEPS, String(told.steps))
    assert.ok(told.stepsAtOnce <= JUDGING_STEPS_MAX + 20 * ACTION_STEPS, String(told.stepsAtOnce))
  }
})

test('DeleteObjects of a stranger is admitted before its keys are read, also where all are refused', async () => {
  const Resource = 'arn:aws:s3:::b/public/*'
  const none = asked([{ Resource }], ['private/a', 'private/b'])
  assert.equal(textOf(await none.run()).match(/<Code>AccessDenied</g)?.length, 2)
  assert.deepEqual([none.told.deleted, none.told.admitted], [0, 1])
  const full = asked([{ Resource }], ['public/a'], { refused: true })
  await assert.rejects(full.run(), { code: 'too_many_requests' })
  assert.deepEqual([full.told.read, full.told.deleted], [0, 0])
  const named = asked([{ Resource }], ['public/a'], { caller: { account: 'acct_c' } })
  await named.run()
  assert.deepEqual([named.told.deleted, named.told.admitted], [1, 0])
})

test('DeleteObjects ends between two turns when nobody waits for it', async () => {
  const { told, request, run } = asked(
    [{ Resource: 'arn:aws:s3:::b/*' }],
    keysOf(1000, (index) => String(index)),
  )
  const gone = new AbortController()
  Object.assign(request, { signal: gone.signal })
  const running = run()
  gone.abort(new Error('gone'))
  await assert.rejects(running, /gone/)
  assert.deepEqual([told.deleted, told.marks], [0, 1])
})

test("DeleteObjects reads no stranger's keys where nobody could allow any", async () => {
  const other = { Principal: { AWS: 'acct_b' } }
  const narrow = [
    { Action: 's3:GetObject' },
    { Effect: 'Deny' },
    other,
    { Principal: '*', Action: 's3:Delete*Tagging' },
  ]
  const Resource = 'arn:aws:s3:::b/*'
  const { told, run } = asked(
    narrow.map((one) => ({ ...one, Resource })),
    ['a'],
  )
  await assert.rejects(run(), (error: ErgonError) => error.code === 'AccessDenied')
  assert.deepEqual([told.read, told.admitted], [0, 0])
  for (const Action of ['s3:DeleteObject', 's3:DeleteObjectVersion', 's3:*', '*']) {
    const open = asked(
      [other, { Action }].map((one) => ({ ...one, Resource })),
      ['a'],
    )
    await open.run()
    assert.equal(open.told.read, 1, Action)
  }
})

test('DeleteObjects counts keys and further blobs as units, without the first one and without refused ones', async () => {
  const Resource = 'arn:aws:s3:::b/ours/*'
  const unitsOf = async (keys: readonly string[], blobs = 1, locked = 0) => {
    const { told, run } = asked([{ Resource }], keys, { blobs, locked })
    await run()
    return [told.deleted, told.units]
  }
  const ours = keysOf(150, (index) => `ours/${index}`)
  assert.deepEqual(await unitsOf(ours), [150, 149])
  assert.deepEqual(await unitsOf(['theirs/0', ...ours]), [150, 149])
  assert.deepEqual(await unitsOf(['ours/0', 'theirs/0']), [1, 0])
  assert.deepEqual(await unitsOf(['theirs/0']), [0, 0])
  // Absent keys.
  assert.deepEqual(await unitsOf(ours, 0), [150, 0])
  assert.deepEqual(await unitsOf(ours, 20), [150, 2999])
  // A lock keeps some rows.
  assert.deepEqual(await unitsOf(ours, 1, 30), [150, 119])
  assert.deepEqual(await unitsOf(ours, 1, 120), [150, 29])
})
