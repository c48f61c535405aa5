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

test('requests that wait have bounded memory: others keep their connections', OPTIONS, async () => {
  const go = Promise.withResolvers<void>()
  let held = 0
  const hold: Handler = async (call) => {
    held++
    await go.promise
    return ping(call)
  }
  await using http = await startTestHttp(
    { '/held': hold, '/ping': ping },
    { waitingBytesMax: 450 * 1024 },
  )
  const waitBehind = async (count: number, localAddress: string, rest = '') => {
    const before = held
    const text = get('/held', 'none') + get('/ping', 'none').repeat(count) + rest
    const socket = await sendUnread(http.port, text, localAddress)
    await isTrue(() => held > before)
    return socket
  }
  const honest = [await waitBehind(10, '127.0.1.1'), await waitBehind(40, '127.0.2.1')]
  const bodies = 'POST /ping HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n'
  const flood: Socket[] = []
  for (let nth = 0; nth < 20; nth++)
    flood.push(await waitBehind(nth < 10 ? 20 : 0, '127.0.3.1', nth < 10 ? '' : bodies))
  let ended = 0
  for (const socket of flood) socket.once('close', () => ended++).resume()
  // A request takes 3 KiB, a body 128: beside 50 requests four connections of 20 have room, and no body.
  await isTrue(() => ended >= 16)
  let answers = 0
  for (const socket of honest) {
    socket.on('data', (bytes) => (answers += String(bytes).split('HTTP/1.1 200').length - 1))
    socket.resume()
  }
  go.resolve()
  await isTrue(() => answers === 52)
  assert.equal(ended, 16)
  for (const socket of [...honest, ...flood]) socket.destroy()
})

test('clients that keep ten requests ahead have all their answers', OPTIONS, async () => {
  await using http = await startTestHttp({ '/ping': ping }, { accountRate: 1_000_000 })
  const answersOf = async () => {
    const socket = await sendUnread(http.port, get('/ping').repeat(10))
    let answers = 0
    let sent = 10
    socket.on('data', (bytes) => {
      const more = String(bytes).split('HTTP/1.1 200').length - 1
      answers += more
      const next = Math.min(more, 200 - sent)
      sent += next
      if (next > 0) socket.write(get('/ping').repeat(next))
    })
    socket.resume()
    await isTrue(() => answers === 200 || socket.destroyed)
    socket.destroy()
    return answers
  }
  assert.deepEqual(await Promise.all(Array.from({ length: 20 }, answersOf)), Array(20).fill(200))
})
