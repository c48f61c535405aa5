// Bodies of requests in many small pieces.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createServer } from '#base/node-http.ts'
import type { IngressRequest } from '#ingress/exchange.ts'
import { sendBody } from './send-body.ts'

const CHUNKS = 300_000
const CHUNK = '1\r\nx\r\n'
/** 125 chunks a second. */
const SLOW_MS = 8
/** The bytes of one read of Node's parser. */
const BLOCK_BYTES = 65_536

test('small chunks that come together go out together, and those of one read are the most of a turn', async (t) => {
  let [pieces, piecesMost] = [0, 0]
  const sent = new PassThrough()
  let text = ''
  sent.on('data', (bytes: Buffer) => void (text += bytes.toString('latin1')))
  const server = createServer((request, response) => {
    request.on('data', () => pieces++)
    const body = { stream: request, bytesMax: CHUNKS, length: undefined }
    // A socket is only written to here.
    sendBody(sent as unknown as Socket, body, {
      read() {},
      sent: () => response.end('ok'),
      failed: (error) => response.destroy(error),
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const turn = () => {
    piecesMost = Math.max(piecesMost, pieces)
    pieces = 0
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  client.write(`${head}${CHUNK.repeat(CHUNKS)}0\r\n\r\n`)
  await once(client, 'data')
  clearImmediate(next)
  client.destroy()
  const lines = text.split('\r\n')
  assert.equal(lines.filter((line) => line.startsWith('x')).join('').length, CHUNKS)
  assert.ok(lines.length < CHUNKS / 100, `${lines.length} lines`)
  assert.ok(piecesMost <= BLOCK_BYTES / CHUNK.length + 1, `${piecesMost} pieces`)
})

test('a body of single bytes without end is refused, and one with some data in each chunk is not', async (t) => {
  let pieces = 0
  const endings: (string | Error)[] = []
  const server = createServer((request, response) => {
    request.on('data', () => pieces++)
    const end = (why: string | Error) => {
      endings.push(why)
      response.writeHead(why instanceof Error ? 400 : 200, { connection: 'close' }).end('end')
    }
    const sent = new PassThrough().resume() as unknown as Socket
    const body = { stream: request, bytesMax: 2 ** 30, length: undefined }
    sendBody(sent, body, { read() {}, sent: () => end('sent'), failed: end })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  for (const [chunk, count] of [
    [CHUNK, 3 * CHUNKS],
    ['a\r\n0123456789\r\n', CHUNKS],
  ] as const) {
    pieces = 0
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    client.on('error', () => undefined)
    client.write(`${head}${chunk.repeat(count)}0\r\n\r\n`)
    await once(client, 'data')
    client.destroy()
    if (chunk === CHUNK) assert.ok(pieces < 2 * CHUNKS, `${pieces} pieces`)
  }
  const [refused, whole] = endings
  assert.match(String(refused), /malformed|few bytes/)
  assert.equal(whole, 'sent')
})

test('a body of single bytes that come slowly goes on, and one that hurries then is refused', () => {
  let nowMs = 1000
  const endings: unknown[] = []
  const stream = Object.assign(new PassThrough(), {
    httpVersionMajor: 2,
  }) as unknown as IngressRequest
  const sent = new PassThrough().resume() as unknown as Socket
  const body = { stream, bytesMax: 2 ** 30, length: undefined, nowMs: () => nowMs }
  sendBody(sent, body, {
    read() {},
    sent: () => endings.push('sent'),
    failed: (error) => endings.push(error.message),
  })
  const send = (pieces: number, everyMs: number) => {
    for (let nth = 0; nth < pieces; nth++) {
      nowMs += everyMs
      stream.emit('data', Buffer.from('x'))
    }
  }
  send(2 * CHUNKS, SLOW_MS)
  assert.deepEqual(endings, [])
  send(2 * CHUNKS, 0)
  assert.match(String(endings), /few bytes.*send larger pieces/)
})
