// Clients that send requests and read no reply: the memory, the limits and the time that such clients can take.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Handler } from './reply.ts'
import { startTestHttp } from './test-server.fixture.ts'

const OPTIONS = { timeout: 30_000 }
const MIB = 1024 * 1024
/** More than the buffers of both ends take. */
const LARGE_BYTES = 16 * MIB
const LONG_MS = 600_000

const get = (path: string, account?: string) =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${account ? `x-account: ${account}\r\n` : ''}\r\n`

/** A connection that sends text and reads nothing. */
async function sendUnread(port: number, text: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => undefined)
  socket.pause()
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** Large replies; each has the signal of its request, which aborts when its connection ends before the reply has left. */
function largeReplies() {
  const begun: AbortSignal[] = []
  const large: Handler = ({ signal }) => {
    begun.push(signal)
    return { kind: 'known', status: 200, body: () => Buffer.alloc(LARGE_BYTES) }
  }
  return { begun, large }
}

const isTrue = async (condition: () => boolean) => {
  while (!condition()) await pause(5)
}

const ping: Handler = () => ({ kind: 'known', status: 200, body: () => ({}) })
const statusOf = async (port: number, path = '/ping') => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`)
  await answer.arrayBuffer()
  return answer.status
}

test(
  'the next request of a connection begins when the reply before has left',
  OPTIONS,
  async () => {
    const { begun, large } = largeReplies()
    await using http = await startTestHttp({ '/large': large, '/ping': ping })
    const socket = await sendUnread(http.port, get('/large').repeat(30))
    await isTrue(() => begun.length > 0)
    for (let turn = 0; turn < 20; turn++) assert.equal(await statusOf(http.port), 200)
    assert.equal(begun.length, 1)
    let readBytes = 0
    socket.on('data', (bytes) => (readBytes += bytes.length))
    socket.resume()
    await isTrue(() => readBytes >= 30 * LARGE_BYTES)
    assert.equal(begun.length, 30)
    socket.destroy()
  },
)

test(
  'requests that wait for their turn are not begun once their connection has ended',
  OPTIONS,
  async () => {
    const { begun, large } = largeReplies()
    await using http = await startTestHttp({ '/large': large, '/ping': ping })
    const socket = await sendUnread(http.port, get('/large').repeat(30))
    await isTrue(() => begun.length > 0)
    socket.resetAndDestroy()
    await isTrue(() => begun[0]?.aborted === true)
    assert.equal(await statusOf(http.port), 200)
    assert.equal(begun.length, 1)
  },
)

test('a request counts for its account until its reply has left', OPTIONS, async () => {
  const { begun, large } = largeReplies()
  await using http = await startTestHttp({ '/large': large, '/ping': ping }, { accountRequests: 2 })
  const one = await sendUnread(http.port, get('/large'))
  const other = await sendUnread(http.port, get('/large'))
  await isTrue(() => begun.length === 2)
  assert.equal(await statusOf(http.port), 429)
  one.destroy()
  await isTrue(() => begun.some(({ aborted }) => aborted))
  assert.equal(await statusOf(http.port), 200)
  other.resume()
  await once(other, 'data')
  other.destroy()
})

test('a connection on which nothing of a reply moves is ended', OPTIONS, async () => {
  const { begun, large } = largeReplies()
  await using http = await startTestHttp(
    { '/large': large, '/ping': ping },
    { silenceMs: LONG_MS, unreadMs: 100 },
  )
  const socket = await sendUnread(http.port, get('/large'))
  await isTrue(() => begun[0]?.aborted === true)
  socket.destroy()
})

test(
  'replies that nobody reads have bounded memory: the connection that waited longest is ended',
  OPTIONS,
  async () => {
    const { begun, large } = largeReplies()
    await using http = await startTestHttp(
      { '/large': large, '/ping': ping },
      { unsentBytesMax: 2.5 * LARGE_BYTES },
    )
    const sockets: Socket[] = []
    for (let nth = 1; nth <= 5; nth++) {
      sockets.push(await sendUnread(http.port, get('/large')))
      await isTrue(() => begun.length === nth)
      assert.equal(await statusOf(http.port), 200)
    }
    await isTrue(() => begun.filter(({ aborted }) => aborted).length === 3)
    assert.deepEqual(
      begun.map(({ aborted }) => aborted),
      [true, true, true, false, false],
    )
    for (const socket of sockets) socket.destroy()
  },
)

test('clients that read nothing leave the memory to a client that reads', OPTIONS, async () => {
  const { begun, large } = largeReplies()
  const smaller: AbortSignal[] = []
  const small: Handler = ({ signal }) => {
    smaller.push(signal)
    return { kind: 'known', status: 200, body: () => Buffer.alloc(12 * MIB) }
  }
  await using http = await startTestHttp({ '/large': large, '/small': small })
  const sockets: Socket[] = []
  // Each of a network of its own, and with fewer bytes than the reply of the client that reads.
  for (let nth = 1; nth <= 14; nth++) {
    sockets.push(await sendUnread(http.port, get('/small', 'none'), `127.0.${nth}.1`))
    await isTrue(() => smaller.length === nth)
  }
  await isTrue(() => smaller.some(({ aborted }) => aborted))
  for (let turn = 0; turn < 5; turn++) assert.equal(await statusOf(http.port, '/large'), 200)
  assert.equal(begun.length, 5)
  for (const socket of sockets) socket.destroy()
})
