import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type Socket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'

import { probeServer } from './probe.ts'

const root = mkdtempSync(join(tmpdir(), 'ergon-probe-'))
after(() => rmSync(root, { recursive: true }))

let sockets = 0
async function serve(answer: (socket: Socket) => void) {
  const path = join(root, `s${++sockets}`)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  }).listen(path)
  await once(server, 'listening')
  const close = async () => {
    for (const socket of open) socket.destroy()
    server.close()
  }
  return { path, [Symbol.asyncDispose]: close }
}
const { signal } = new AbortController()

test('probeServer() reports the words of a server that refuses', async () => {
  const body = Buffer.from('SFATAL\0C57P03\0Mthe database system is starting up\0\0')
  const head = Buffer.from([0x45, 0, 0, 0, body.length + 4])
  await using server = await serve((socket) => {
    socket.write(Buffer.concat([head, body]).subarray(0, 9))
    setImmediate(() => socket.end(Buffer.concat([head, body]).subarray(9)))
  })
  await assert.rejects(probeServer(server.path, signal), {
    code: 'postgres_not_ready',
    message: 'PostgreSQL does not answer: the database system is starting up',
  })
})

test('probeServer() refuses what is not PostgreSQL, is gone, or hangs up', async () => {
  await using http = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  await assert.rejects(probeServer(http.path, signal), { message: /not PostgreSQL/ })
  await using silent = await serve((socket) => socket.end())
  await assert.rejects(probeServer(silent.path, signal), { message: /connection was closed/ })
  await assert.rejects(probeServer(join(root, 'none'), signal), { message: /ENOENT/ })
})

test('probeServer() ends with its signal when nothing is ever answered', async () => {
  await using server = await serve(() => undefined)
  const abort = new AbortController()
  const probing = probeServer(server.path, abort.signal)
  abort.abort(new RangeError('enough'))
  await assert.rejects(probing, RangeError)
})
