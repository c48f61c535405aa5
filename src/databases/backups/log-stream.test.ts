import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { systemClock } from '#base/clock.ts'
import type { Queryable } from '#state/connect.ts'
import type { ReplicationCopy } from '#state/replication.ts'
import { createLogStream } from './log-stream.ts'
import type { SealedBlobs } from './sealed-blobs.ts'
import { createStoreTurns } from './store-turns.ts'

const AT = 16n
const WRITTEN = { position: AT, atMs: 0 }
const POSTGRES_EPOCH_MS = 946_684_800_000
const nothing = () => undefined
const cpu = { heard: nothing, piece: nothing, bytes: nothing, stored: nothing, end: nothing }
const own = { cpu, turns: createStoreTurns() }

/** A message with bytes of the log (chapter 55.4 of PostgreSQL 16, XLogData). */
function logBytes(bytes: Buffer, at = AT, sentMs = POSTGRES_EPOCH_MS): Buffer {
  const head = Buffer.alloc(25)
  head.write('w')
  head.writeBigUInt64BE(at, 1)
  head.writeBigUInt64BE(at + BigInt(bytes.length), 9)
  head.writeBigInt64BE(BigInt(sentMs - POSTGRES_EPOCH_MS) * 1000n, 17)
  return Buffer.concat([head, bytes])
}

/** A keepalive of the server (Primary keepalive message). */
function alive(written: bigint, wantsReply: boolean): Buffer {
  const message = Buffer.alloc(18)
  message.write('k')
  message.writeBigUInt64BE(written, 1)
  message[17] = wantsReply ? 1 : 0
  return message
}

/** A server that has sent these messages and says nothing more. */
function silentAfter(messages: readonly Buffer[]): ReplicationCopy {
  const stream = new PassThrough({ objectMode: true })
  for (const message of messages) stream.write(message)
  return {
    messages: stream as AsyncIterable<Buffer>,
    fail: (error) => void stream.destroy(error as Error),
    send: () => undefined,
    results: async () => [],
  }
}

test('a store that fails ends the stream of a server that says nothing more', async () => {
  const asked = new PassThrough()
  const blobs = {
    put: () => {
      asked.end()
      return Promise.reject(new Error('the store is away'))
    },
  } as unknown as SealedBlobs
  const state = { query: async () => ({ rows: [], rowCount: 0 }) } as unknown as Queryable
  const stream = createLogStream(
    { state, blobs, clock: systemClock, ...own, restMs: 5 },
    silentAfter([logBytes(Buffer.from('commit'))]),
    { id: 'db_a', account: 'acct_a', life: '1', from: AT, written: WRITTEN, timeline: 1 },
  )
  const running = stream.run()
  await once(asked.resume(), 'end')
  await assert.rejects(running, /the store is away/)
})

test('requests to store what has arrived do not queue behind a slow store', async () => {
  const slow = Promise.withResolvers<void>()
  let stores = 0
  const query = async (text: string) => {
    if (text.includes('log_stored(')) {
      stores++
      await slow.promise
    }
    return { rows: [], rowCount: 0 }
  }
  const blobs = {} as unknown as SealedBlobs
  const stream = createLogStream(
    {
      state: { query } as unknown as Queryable,
      blobs,
      clock: systemClock,
      ...own,
      restMs: 3_600_000,
    },
    silentAfter([]),
    { id: 'db_a', account: 'acct_a', life: '1', from: AT, written: WRITTEN, timeline: 1 },
  )
  const first = stream.flush()
  await setImmediate()
  const more = Array.from({ length: 100 }, () => stream.flush())
  slow.resolve()
  await Promise.all([first, ...more])
  assert.equal(stores, 2)
})

/** Follows a server that sends these messages and stops; what was stored, told and recorded. */
async function follow(messages: readonly Buffer[]) {
  const puts: string[] = []
  const pieces: [string, string][] = []
  const told: bigint[] = []
  let isArchived = false
  const blobs = {
    async put(bytes: AsyncIterable<Buffer>) {
      puts.push((await buffer(bytes)).toString())
      return { blob: {}, size: 1, key: {} }
    },
  } as unknown as SealedBlobs
  const query = async (text: string, values: readonly string[]) => {
    if (text.includes('keep_wal')) pieces.push([values[1] ?? '', values[2] ?? ''])
    isArchived ||= text.includes('is_archived')
    return { rows: [], rowCount: 0 }
  }
  const stream = new PassThrough({ objectMode: true })
  for (const message of messages) stream.write(message)
  stream.end()
  const copy: ReplicationCopy = {
    messages: stream as AsyncIterable<Buffer>,
    fail: (error) => void stream.destroy(error as Error),
    send: (message) => void told.push(message.readBigUInt64BE(1)),
    results: async () => [],
  }
  const deps = { state: { query } as unknown as Queryable, blobs, clock: systemClock }
  const log = createLogStream({ ...deps, ...own, restMs: 3_600_000 }, copy, {
    id: 'db_a',
    account: 'acct_a',
    life: '1',
    from: AT,
    written: WRITTEN,
    timeline: 1,
  })
  const error = await log.run().then(
    () => undefined,
    (cause: Error) => cause.message,
  )
  return { puts, pieces, told, isArchived, error }
}

test('a server that stops in order waits for the answer to its last byte, and is archived', async () => {
  const found = await follow([
    logBytes(Buffer.from('one')),
    logBytes(Buffer.from('two'), AT + 3n),
    alive(AT + 6n, false),
    alive(AT + 6n, true),
    logBytes(Buffer.from('end'), AT + 6n),
    alive(AT + 9n, true),
    Buffer.from('?a kind of a later server'),
  ])
  assert.deepEqual(found, {
    puts: ['onetwo', 'end'],
    pieces: [
      ['0/10', '0/16'],
      ['0/16', '0/19'],
    ],
    told: [AT + 6n, AT + 9n],
    isArchived: true,
    error: undefined,
  })
})

test('a server that leaves before its last byte is stored is not archived', async () => {
  const { puts, isArchived, error } = await follow([
    logBytes(Buffer.from('one')),
    alive(AT + 3n, true),
    logBytes(Buffer.from('two'), AT + 3n),
  ])
  assert.deepEqual([puts, isArchived], [['one'], false])
  assert.match(error ?? '', /left before its log was stored/)
})

test('a long log is stored in pieces without a request of the server', async () => {
  const megabyte = Buffer.alloc(1_048_576, 'x')
  const messages = Array.from({ length: 9 }, (_, nth) =>
    logBytes(megabyte, AT + BigInt(nth * megabyte.length)),
  )
  const { pieces, error } = await follow(messages)
  assert.deepEqual(pieces, [
    ['0/10', '0/400010'],
    ['0/400010', '0/800010'],
  ])
  assert.match(error ?? '', /left before/)
})

test('a log that waits behind a slow store is not told to be stored up to the end of the wait', async () => {
  const startMs = 1_800_000_000_000
  let nowMs = startMs
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs }
  const told: number[] = []
  const blobs = {
    async put(bytes: AsyncIterable<Buffer>) {
      await buffer(bytes)
      // The store is slow, and the server writes meanwhile.
      nowMs += 60_000
      return { blob: {}, size: 1, key: {} }
    },
  } as unknown as SealedBlobs
  const query = async (text: string, values: readonly unknown[]) => {
    if (text.includes('log_stored(')) told.push(Number(values[1]) - startMs)
    return { rows: [], rowCount: 0 }
  }
  const piece = Buffer.alloc(4_194_304, 'x')
  const at = (nth: number) => AT + BigInt(nth * piece.length)
  const copy = silentAfter(
    [0, 1, 2, 3].map((nth) => logBytes(piece, at(nth), startMs + nth * 1000)),
  )
  const stream = createLogStream(
    {
      state: { query } as unknown as Queryable,
      blobs,
      clock,
      ...own,
      restMs: 3_600_000,
    },
    copy,
    {
      id: 'db_a',
      account: 'acct_a',
      life: '1',
      from: AT,
      written: { position: AT, atMs: startMs },
      timeline: 1,
    },
  )
  const running = stream.run()
  while (told.length < 4) await setImmediate()
  // Each piece has all that the server had written when it sent the piece before.
  assert.deepEqual(told, [0, 0, 0, 1000])
  // A server that has been silent for long has written no more.
  await stream.flush()
  nowMs += 60_000
  await stream.flush()
  await stream.flush()
  assert.equal(told.at(-1), 4 * 60_000 + 60_000 - 5000)
  copy.fail(new Error('over'))
  await assert.rejects(running, /over/)
})

test('stores of one account that hang are few at once, and the logs of others are stored', async () => {
  const turns = createStoreTurns()
  const hanging = Promise.withResolvers<never>()
  hanging.promise.catch(() => undefined)
  const puts: string[] = []
  const follow = (account: string, id: string) => {
    const blobs = {
      async put() {
        puts.push(account)
        if (account === 'acct_slow') await hanging.promise
        return { blob: {}, size: 1, key: {} }
      },
    } as unknown as SealedBlobs
    const state = { query: async () => ({ rows: [], rowCount: 0 }) } as unknown as Queryable
    const stream = createLogStream(
      { state, blobs, clock: systemClock, cpu, turns, restMs: 3_600_000 },
      silentAfter([logBytes(Buffer.from('commit')), alive(AT + 6n, true)]),
      { id, account, life: '1', from: AT, written: WRITTEN, timeline: 1 },
    )
    return { stream, running: stream.run() }
  }
  const slow = Array.from({ length: 40 }, (_, nth) => follow('acct_slow', `db_${nth}`))
  for (const { running } of slow) running.catch(() => undefined)
  const others = ['acct_a', 'acct_b'].map((account) => follow(account, `db_${account}`))
  for (const { running } of others) running.catch(() => undefined)
  while (others.some(({ stream }) => !stream.hasStored)) await setImmediate()
  const SLOW_AT_ONCE = 4
  assert.deepEqual(puts, [...Array<string>(SLOW_AT_ONCE).fill('acct_slow'), 'acct_a', 'acct_b'])
  hanging.reject(new Error('the end of the test'))
})

test('a log that waits for its turn says so, and one that has a turn at once says nothing', async () => {
  const turns = createStoreTurns({ all: 1, account: 1 })
  const waiting: unknown[] = []
  const blobs = { put: async () => ({ blob: {}, size: 1, key: {} }) } as unknown as SealedBlobs
  const query = async (text: string, values: readonly unknown[]) => {
    if (text.includes('log_waited_at')) waiting.push(values[0])
    return { rows: [], rowCount: 0 }
  }
  const follow = (id: string) =>
    createLogStream(
      {
        state: { query } as unknown as Queryable,
        blobs,
        clock: systemClock,
        cpu,
        turns,
        restMs: 3_600_000,
      },
      silentAfter([logBytes(Buffer.from('commit')), alive(AT + 6n, true)]),
      { id, account: 'acct_a', life: '1', from: AT, written: WRITTEN, timeline: 1 },
    )
  const quick = follow('db_quick')
  void quick.run().catch(() => undefined)
  while (!quick.hasStored) await setImmediate()
  assert.deepEqual(waiting, [])
  const other = await turns.take('acct_b', new AbortController().signal)
  const slow = follow('db_slow')
  void slow.run().catch(() => undefined)
  while (waiting.length === 0) await setImmediate()
  assert.deepEqual([waiting, slow.hasStored], [['db_slow'], false])
  other[Symbol.dispose]()
  while (!slow.hasStored) await setImmediate()
})

test('each message of the log counts as work for its database, and a keepalive does not', async () => {
  const heard: number[] = []
  const counting = { ...cpu, heard: (count: number) => void heard.push(count) }
  const failed = new Error('the end of the test')
  const copy = silentAfter([logBytes(Buffer.from('commit')), alive(AT, false)])
  const stream = createLogStream(
    {
      state: {} as unknown as Queryable,
      blobs: {} as unknown as SealedBlobs,
      clock: systemClock,
      ...own,
      cpu: counting,
      restMs: 3_600_000,
    },
    copy,
    { id: 'db_a', account: 'acct_a', life: '1', from: AT, written: WRITTEN, timeline: 1 },
  )
  const running = stream.run()
  await setImmediate()
  copy.fail(failed)
  await assert.rejects(running, failed)
  assert.deepEqual(heard, [6])
})
