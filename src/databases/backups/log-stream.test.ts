import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import type { Queryable } from '#state/connect.ts'
import type { ReplicationCopy } from '#state/replication.ts'
import { createLogStream } from './log-stream.ts'
import type { SealedBlobs } from './sealed-blobs.ts'

const AT = 16n

/** A message with bytes of the log (chapter 55.4 of PostgreSQL 16, XLogData). */
function logBytes(bytes: Buffer): Buffer {
  const head = Buffer.alloc(25)
  head.write('w')
  head.writeBigUInt64BE(AT, 1)
  head.writeBigUInt64BE(AT + BigInt(bytes.length), 9)
  return Buffer.concat([head, bytes])
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
    { state, blobs, clock: systemClock, mark: () => undefined, restMs: 5 },
    silentAfter([logBytes(Buffer.from('commit'))]),
    { id: 'db_a', from: AT, written: AT, timeline: 1 },
  )
  const running = stream.run()
  await once(asked.resume(), 'end')
  await assert.rejects(running, /the store is away/)
})
