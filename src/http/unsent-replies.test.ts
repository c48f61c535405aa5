// The connection that ends beyond the memory for replies that nobody reads.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { createUnsentReplies } from './unsent-replies.ts'

type FakeReply = {
  destroyed: boolean
  writableLength: number
  readonly socket: { readonly _handle: { writeQueueSize: number } }
}

/** A server whose clients read what a test says. */
function startServer(bytesMax: number) {
  const ended: string[] = []
  let nowMs = 0
  const unsent = createUnsentReplies({ bytesMax, clock: { monotonicMs: () => nowMs } })
  return {
    ended,
    pass: (ms: number) => (nowMs += ms),
    reply(account: string, bytes: number, name = account) {
      const response: EventEmitter & FakeReply = Object.assign(new EventEmitter(), {
        writableEnded: true,
        writableFinished: false,
        destroyed: false,
        writableLength: bytes,
        // Node keeps the whole of one large write until the kernel has its last byte.
        socket: { timeout: 1, setTimeout: () => undefined, _handle: { writeQueueSize: bytes } },
        destroy() {
          response.destroyed = true
          ended.push(name)
          response.emit('close')
        },
      })
      void unsent.left(response as unknown as ServerResponse, account)
      return {
        move: () => (response.socket._handle.writeQueueSize -= 1),
        read: (count: number) => (response.writableLength -= count),
        end: () => response.emit('close'),
      }
    },
  }
}

test('beyond the memory a reader above an equal share loses its stillest reply, and no other reader does', () => {
  const server = startServer(45)
  for (const [name, account] of Object.entries({ a: 'x', b: 'y', c: 'y', d: 'z', e: 'w' })) {
    server.reply(account, 10, name)
    server.pass(10)
  }
  assert.deepEqual(server.ended, ['b'])
  server.reply('z', 10, 'f')
  assert.deepEqual(server.ended, ['b', 'd'])
})

test('many that read nothing do not end the reply of one who reads, or has just begun', () => {
  const server = startServer(100)
  for (let nth = 0; nth < 12; nth++) {
    server.reply(`silent-${nth}`, 8)
    server.pass(500)
  }
  const reading = server.reply('honest', 16)
  assert.deepEqual(server.ended, ['silent-0', 'silent-1'])
  for (let nth = 12; nth < 16; nth++) {
    server.pass(500)
    reading.move()
    server.reply(`silent-${nth}`, 8)
  }
  assert.equal(server.ended.includes('honest'), false)
  assert.equal(server.ended.length, 6)
})

test('a reader of a large reply that stands still is ended before smaller ones', () => {
  const server = startServer(100)
  for (let nth = 0; nth < 10; nth++) {
    server.reply(`small-${nth}`, 8)
    server.pass(10)
  }
  server.reply('large', 16)
  server.pass(10)
  server.reply('next', 8)
  assert.deepEqual(server.ended, ['large'])
})

test('bytes that have left count no longer', () => {
  const server = startServer(100)
  const read = server.reply('x', 60)
  read.read(50)
  server.reply('x', 60)
  assert.deepEqual(server.ended, [])
  server.reply('y', 30).end()
  server.reply('z', 30)
  assert.deepEqual(server.ended, [])
})

test('where no reader is above an equal share the stillest reply ends', () => {
  const server = startServer(4)
  for (const account of ['x', 'y', 'z']) {
    server.reply(account, 1)
    server.pass(2000)
  }
  const last = server.reply('w', 5)
  assert.deepEqual(server.ended, ['x', 'y', 'z', 'w'])
  last.end()
})
