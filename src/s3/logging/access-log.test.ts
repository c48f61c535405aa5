import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimerClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import type { Bucket } from '#objects/types.ts'
import { AccessLog, type Deliver } from './access-log.ts'
import { createBatches } from './batches.ts'

const NOON_MS = Date.parse('2026-11-21T12:00:00Z')
const bucketOf = (id: number): Bucket => ({
  id,
  name: `bucket-${id}`,
  account: 'acct_a',
  region: 'local',
  createdAtMs: 0,
  versioning: 'off',
  objectLock: false,
  configurations: {},
  isReadOnly: false,
})
const LOGGING = { bucket: 'logs', prefix: 'p/', format: 'simple' } as const
const entryOf = (line: string, { id = 1, timeMs = NOON_MS, isRefused = false } = {}) => ({
  bucket: bucketOf(id),
  logging: LOGGING,
  line,
  timeMs,
  isRefused,
})

/** A log whose timer the test fires. */
function start(deliver: Deliver) {
  let fire: (() => void) | undefined
  const clock: TimerClock = {
    wallMs: () => NOON_MS,
    monotonicMs: () => 0,
    setTimer(_ms, due) {
      fire = due
      return () => (fire = undefined)
    },
  }
  const log = createLogger('test', { level: 'error' })
  return { accessLog: new AccessLog({ deliver, clock, log }), fire: () => fire?.() }
}

/** Delivers into a list; `answers` come first, then true. */
function collect(...answers: (boolean | Error)[]) {
  const delivered: { bucket: string; lines: number; unique: string }[] = []
  const deliver: Deliver = async ({ bucket, lines, unique }) => {
    const answer = answers.shift() ?? true
    delivered.push({ bucket: bucket.name, lines: lines.length, unique })
    if (answer instanceof Error) throw answer
    return answer
  }
  return { delivered, deliver }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const NEVER = new AbortController().signal

test('lines of a bucket and a day are one batch, delivered when the time has come', async () => {
  const { delivered, deliver } = collect()
  const { accessLog, fire } = start(deliver)
  for (const line of ['a', 'b', 'c']) accessLog.add(entryOf(line))
  accessLog.add(entryOf('d', { id: 2 }))
  accessLog.add(entryOf('e', { timeMs: NOON_MS + 24 * 3_600_000 }))
  await settled()
  assert.equal(delivered.length, 0)
  fire()
  await settled()
  assert.deepEqual(
    delivered.map(({ bucket, lines }) => [bucket, lines]),
    [
      ['bucket-1', 3],
      ['bucket-2', 1],
      ['bucket-1', 1],
    ],
  )
  assert.equal(accessLog.lost, 0)
})

test('a log that fails is tried again under its name, five times; one that no target takes is lost at once', async () => {
  const gone = new Error('the state is away')
  const { delivered, deliver } = collect(gone, gone, gone, gone, gone, false)
  const { accessLog, fire } = start(deliver)
  accessLog.add(entryOf('a'))
  accessLog.add(entryOf('b'))
  for (let round = 0; round < 7; round++) {
    fire()
    await settled()
  }
  assert.equal(delivered.length, 5)
  assert.equal(new Set(delivered.map(({ unique }) => unique)).size, 1)
  assert.equal(accessLog.lost, 2)
  accessLog.add(entryOf('c'))
  fire()
  await settled()
  assert.equal(accessLog.lost, 3)
})

test('memory is bounded: a bucket that nobody takes from keeps no other from its log', async () => {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  const { delivered, deliver } = collect()
  const { accessLog } = start(async (batch, signal) => {
    await opened
    return await deliver(batch, signal)
  })
  const line = 'x'.repeat(10_000)
  for (let index = 0; index < 1000; index++) accessLog.add(entryOf(line))
  const kept = 1000 - accessLog.lost
  assert.ok(kept > 400 && kept * 10_001 <= 4 * 1024 * 1024, `${kept} lines are kept`)
  const { lost } = accessLog
  accessLog.add(entryOf('other', { id: 2 }))
  assert.equal(accessLog.lost, lost)
  open()
  await accessLog.close(NEVER)
  assert.equal(
    delivered.reduce((sum, { lines }) => sum + lines, 0),
    kept + 1,
  )
  // A delivered line makes room again.
  accessLog.add(entryOf(line))
  assert.equal(accessLog.lost, lost)
})

test('close() delivers what waits, and no longer than it may', async () => {
  const { delivered, deliver } = collect()
  const first = start(deliver)
  first.accessLog.add(entryOf('a'))
  await first.accessLog.close(NEVER)
  assert.equal(delivered.length, 1)
  const hanging = start(() => new Promise(() => undefined))
  hanging.accessLog.add(entryOf('a'))
  const ending = new AbortController()
  const closed = hanging.accessLog.close(ending.signal)
  ending.abort()
  await closed
})

test('a batch is delivered when its object has 1 MiB, and not before', async () => {
  const { delivered, deliver } = collect()
  const { accessLog } = start(deliver)
  const line = 'x'.repeat(1023)
  for (let index = 0; index < 1023; index++) accessLog.add(entryOf(line))
  await settled()
  assert.equal(delivered.length, 0)
  accessLog.add(entryOf(line))
  await settled()
  assert.deepEqual(
    delivered.map(({ lines }) => lines),
    [1024],
  )
})

test('batches of many buckets are bounded too, and keep no configurations', () => {
  const batches = createBatches()
  let kept = 0
  for (; kept < 100_000; kept++) {
    const configurations = { website: { rules: [] } }
    const bucket = { ...bucketOf(kept), configurations }
    if (!batches.add({ ...entryOf('x'), bucket })) break
  }
  assert.ok(kept > 1000 && kept * 4096 <= 32 * 1024 * 1024, `${kept} batches are kept`)
  const taken = batches.take('all')
  assert.deepEqual(Object.keys(taken[0]?.bucket ?? {}).toSorted(), [
    'account',
    'id',
    'name',
    'region',
  ])
  for (const batch of taken) batches.letGo(batch)
  for (let index = 0; index < kept; index++)
    assert.ok(batches.add(entryOf('x', { id: index })), 'room again')
})

test('refused requests fill no log: a bucket has 1 MiB of their lines a round, and room for all others', async () => {
  const { delivered, deliver } = collect()
  const { accessLog, fire } = start(deliver)
  const line = 'x'.repeat(1023)
  const refuse = async (count: number) => {
    const { lost } = accessLog
    for (let index = 0; index < count; index++) {
      accessLog.add(entryOf(line, { isRefused: true }))
      // Full batches leave at once, and make room; not for these.
      if (index % 100 === 0) await settled()
    }
    return accessLog.lost - lost
  }
  assert.equal(await refuse(3000), 3000 - 1024)
  const { lost } = accessLog
  for (let index = 0; index < 1000; index++) accessLog.add(entryOf(line))
  accessLog.add(entryOf(line, { id: 2, isRefused: true }))
  assert.equal(accessLog.lost, lost)
  fire()
  await settled()
  assert.equal(
    delivered.reduce((sum, { lines }) => sum + lines, 0),
    1024 + 1000 + 1,
  )
  assert.equal(await refuse(1025), 1)
})

test('a stop waits for lines whose bucket is still looked up', async () => {
  const { delivered, deliver } = collect()
  const { accessLog } = start(deliver)
  const found = Promise.withResolvers<void>()
  accessLog.expect(found.promise.then(() => accessLog.add(entryOf('a'))))
  accessLog.expect(Promise.reject(new Error('the state is away')))
  const closed = accessLog.close(NEVER)
  await settled()
  assert.equal(delivered.length, 0)
  found.resolve()
  await closed
  assert.equal(delivered.length, 1)
})
