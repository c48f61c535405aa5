// Hostile and broken connections: the server stays up and answers the others.
import { fault } from '#contract/errors.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { hasFastProperties } from '#base/fast-objects.fixture.ts'
import { OpenSpend } from '#charging/open-spend.ts'
import type { HeldKey } from './idempotency.ts'
import { JSON_BODY_BYTES_MAX } from './limits.ts'
import type { OperationCall, Handler, StreamedReply } from './reply.ts'
import { startTestHttp, type TestHttp } from './test-server.fixture.ts'

const OPTIONS = { timeout: 30_000 }
const KIB = 1024

const pong: Handler = () => ({ kind: 'known', status: 200, body: () => ({ pong: true }) })

/** Sends text on a connection of its own. */
async function open(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

async function answers({ port }: TestHttp): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/ping`)
  assert.equal(response.status, 200)
  await response.text()
}

test('a CONNECT that is reset takes no process with it', OPTIONS, async () => {
  await using http = await startTestHttp({ '/ping': pong })
  for (let nth = 0; nth < 20; nth++) {
    const socket = await open(http.port, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
    socket.resetAndDestroy()
  }
  await answers(http)
})

test('a reply that cannot be written ends its connection and nothing else', OPTIONS, async () => {
  await using http = await startTestHttp({
    '/ping': pong,
    '/bad': ({ spend }) => {
      // Every header of the answer says it, that of the refusal too.
      spend.served({ routedTo: 'a\nb' })
      return { kind: 'known', status: 200, headers: { 'X-Bad': 'a\nb' }, body: () => ({}) }
    },
  })
  const socket = await open(http.port, get('/bad'))
  await once(socket, 'close')
  await answers(http)
})

test('a body in pieces of few bytes is refused once there is a lot of it', OPTIONS, async () => {
  await using http = await startTestHttp({ '/ping': pong })
  const post = async (bodyBytes: number, pieceBytes: number): Promise<string> => {
    const body = JSON.stringify('x'.repeat(bodyBytes - 2))
    const pieces = Array.from({ length: bodyBytes / pieceBytes }, (_, nth) => {
      const piece = body.slice(nth * pieceBytes, (nth + 1) * pieceBytes)
      return `${pieceBytes.toString(16)}\r\n${piece}\r\n`
    })
    const head = 'POST /ping HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    const socket = await open(http.port, `${head}${pieces.join('')}0\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    return String(answer)
  }
  assert.match(await post(64 * KIB, 1), /^HTTP\/1.1 200 /)
  assert.match(await post(256 * KIB, 512), /^HTTP\/1.1 200 /)
  assert.match(await post(65 * KIB, 1), /^HTTP\/1.1 400 [^]*malformed_request/)
  await answers(http)
})

test('a stream whose reader has gone is ended where it waits', OPTIONS, async () => {
  const ended = Promise.withResolvers<void>()
  await using http = await startTestHttp({ '/stream': () => endless(ended.resolve) })
  const socket = await open(http.port, get('/stream'))
  await once(socket, 'data')
  // It reads no more: the server waits for the socket to drain when it goes.
  socket.pause()
  await new Promise((resolve) => setTimeout(resolve, 100))
  socket.destroy()
  await ended.promise
})

test('a reader that stands still is let go', OPTIONS, async () => {
  const gone = Promise.withResolvers<void>()
  await using http = await startTestHttp(
    {
      '/large': ({ signal }) => {
        signal.addEventListener('abort', () => gone.resolve(), { once: true })
        // More than the buffers of both ends take.
        return { kind: 'known', status: 200, body: () => new Uint8Array(32 * 1024 * 1024) }
      },
    },
    { silenceMs: 100 },
  )
  const socket = await open(http.port, get('/large'))
  socket.pause()
  await gone.promise
  socket.destroy()
})

test(
  'a connection has one request under way, and a bounded number that wait',
  OPTIONS,
  async () => {
    let running = 0
    let most = 0
    const go = Promise.withResolvers<void>()
    await using http = await startTestHttp({
      '/ping': pong,
      '/slow': async () => {
        most = Math.max(most, ++running)
        await go.promise
        running--
        return { kind: 'known', status: 200, body: () => ({}) }
      },
    })
    const count = 500
    const socket = await open(http.port, get('/slow').repeat(count))
    await once(socket, 'close')
    assert.equal(most, 1)
    go.resolve()
    await answers(http)
  },
)

function endless(ended: () => void): StreamedReply {
  async function* chunks() {
    try {
      for (;;) yield 'x'.repeat(65_536)
    } finally {
      ended()
    }
  }
  return {
    kind: 'streamed',
    status: 200,
    contentType: 'text/plain',
    chunks: chunks(),
    last: () => '',
    cut: () => '',
  }
}

test('a HEAD of a stream has a head and nothing else, and lets go of it', OPTIONS, async () => {
  const ended = Promise.withResolvers<void>()
  await using http = await startTestHttp({ '/stream': () => endless(ended.resolve), '/ping': pong })
  const answer = await fetch(`http://127.0.0.1:${http.port}/stream`, { method: 'HEAD' })
  assert.deepEqual([answer.status, await answer.text()], [200, ''])
  await ended.promise
  await answers(http)
})

test('a stream whose head cannot be written lets go of what it holds', OPTIONS, async () => {
  let isOpen = false
  async function* chunks() {
    isOpen = true
    try {
      yield 'a'
      yield 'b'
    } finally {
      isOpen = false
    }
  }
  const reply: StreamedReply = {
    kind: 'streamed',
    status: 200,
    headers: { 'x-name': 'two\nlines' },
    contentType: 'text/plain',
    chunks: chunks(),
    last: () => '',
    cut: () => '',
  }
  await using http = await startTestHttp({ '/stream': () => reply, '/ping': pong })
  const answer = await fetch(`http://127.0.0.1:${http.port}/stream`)
  assert.equal(answer.status, 500)
  await answer.text()
  assert.equal(isOpen, false)
  await answers(http)
})

test('a failure of ours within a stream is told in it, and to the operator', OPTIONS, async () => {
  async function* chunks(thrown: unknown) {
    yield 'a'
    throw thrown
  }
  const replyOf = (thrown: unknown): StreamedReply => ({
    kind: 'streamed',
    status: 200,
    contentType: 'text/plain',
    chunks: chunks(thrown),
    last: () => ' whole',
    cut: ({ code }) => ` ${code}`,
  })
  await using http = await startTestHttp({
    '/ours': () => replyOf(new TypeError('a plan was wrong')),
    '/theirs': () => replyOf(fault('upstream_failed', 'It went away')),
  })
  const text = async (path: string) =>
    await (await fetch(`http://127.0.0.1:${http.port}${path}`)).text()
  assert.equal(await text('/theirs'), 'a upstream_failed')
  assert.deepEqual(http.logged, [])
  assert.equal(await text('/ours'), 'a internal')
  assert.match(http.logged.join(), /A request failed.*a plan was wrong/)
  assert.deepEqual(
    http.failed.map((thrown) => (thrown as Error).message),
    ['It went away', 'a plan was wrong'],
  )
})

test('after a body that is too large by one byte the connection goes on', OPTIONS, async () => {
  await using http = await startTestHttp({ '/ping': pong })
  const bytes = JSON_BODY_BYTES_MAX + 1
  const socket = await open(
    http.port,
    `POST /ping HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  )
  const [refused] = await once(socket, 'data')
  assert.match(String(refused), /^HTTP\/1\.1 413 /)
  socket.write(Buffer.alloc(bytes, 0x20))
  socket.write(get('/ping'))
  const answer = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  assert.match(String(answer[0]), /^HTTP\/1\.1 200 /)
  socket.destroy()
})

test('requests reach their handlers in objects that V8 reads fast', OPTIONS, async () => {
  const seen: OperationCall[] = []
  await using http = await startTestHttp({
    '/ping': (call) => {
      seen.push(call)
      return pong(call)
    },
  })
  await answers(http)
  await answers(http)
  assert.deepEqual(seen.map(hasFastProperties), [true, true])
})

test(
  'one network leaves connections for others; proxies that are trusted bring those of many',
  OPTIONS,
  async () => {
    await using http = await startTestHttp({ '/ping': pong }, { networkConnectionsMax: 2 })
    const two = [await open(http.port, ''), await open(http.port, '')]
    const third = await open(http.port, get('/ping'))
    await once(third, 'close')
    two[0]?.destroy()
    await once(two[0] as Socket, 'close')
    await using trusting = await startTestHttp(
      { '/ping': pong },
      { networkConnectionsMax: 0, trusts: (address) => address === '127.0.0.1' },
    )
    await answers(trusting)
    two[1]?.destroy()
  },
)

test(
  'reads of a head that comes byte by byte are the operator’s, and those of a request are not',
  OPTIONS,
  async (t) => {
    await using http = await startTestHttp({ '/ping': pong })
    const absorbed = t.mock.method(http.gateway.charging, 'absorb').mock
    const client = connect({ port: http.port, host: '127.0.0.1', noDelay: true })
    await once(client, 'connect')
    const head = 'GET /ping HTTP/1.1\r\nhost: localhost\r\n'
    for (const byte of head) {
      client.write(byte)
      await pause(2)
    }
    const reads = absorbed.callCount()
    assert.ok(reads > head.length / 2, `${reads} of ${head.length}`)
    client.write('\r\n')
    await once(client, 'data')
    client.destroy()
    // The last byte may have come behind the count.
    assert.ok(absorbed.callCount() <= reads + 1)
  },
)

test(
  'CPU of a handler between two waits stays its own where strangers send bytes meanwhile',
  OPTIONS,
  async (t) => {
    let writes = 0
    await using http = await startTestHttp({
      '/ping': pong,
      '/work': async () => {
        const stranger = await open(http.port, 'GET /')
        await until(() => absorbed.callCount() > 0)
        // The handler goes on behind a wait, and waits again.
        http.gateway.process.cpuNs += 20_000_000
        const before = absorbed.callCount()
        for (const byte of 'ping') {
          stranger.write(byte)
          writes++
          await pause(2)
        }
        await until(() => absorbed.callCount() > before)
        stranger.destroy()
        return { kind: 'known', status: 200, body: () => ({}) }
      },
    })
    const absorbed = t.mock.method(http.gateway.charging, 'absorb').mock
    const response = await fetch(`http://127.0.0.1:${http.port}/work`)
    await response.text()
    const billed = Number(response.headers.get('x-energy-joules'))
    t.diagnostic(`${billed} J of 0.02 J beside ${writes} bytes of a stranger`)
    assert.ok(billed > 0.0199 && billed <= 0.02, `${billed} J`)
  },
)

test(
  'CPU before the wait for a key is on the bill of its request, not on a neighbour’s',
  OPTIONS,
  async () => {
    const claimed = Promise.withResolvers<HeldKey>()
    let claims = 0
    await using http = await startTestHttp(
      { '/ping': pong, '/keyed': pong },
      {
        idempotency: {
          claim({ exchange }) {
            if (exchange.path !== '/keyed') return undefined
            // As if the body took this long to parse.
            http.gateway.process.cpuNs += 20_000_000
            claims++
            return claimed.promise
          },
        },
      },
    )
    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${http.port}${path}`)
      await response.text()
      return Number(response.headers.get('x-energy-joules'))
    }
    const keyed = ask('/keyed')
    await until(() => claims > 0)
    assert.equal(await ask('/ping'), 0)
    claimed.resolve({
      answer: async (make) => await make({} as never),
      [Symbol.asyncDispose]: async () => undefined,
    })
    assert.equal(await keyed, 0.02)
  },
)

test('bytes of a body are marked for their request, as they come', OPTIONS, async (t) => {
  await using http = await startTestHttp({ '/ping': pong })
  const absorbed = t.mock.method(http.gateway.charging, 'absorb').mock
  const marked = t.mock.method(OpenSpend.prototype, 'markRead').mock
  const client = await open(
    http.port,
    'POST /ping HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
  )
  for (const byte of '2;extension=long') {
    client.write(byte)
    await pause(2)
  }
  assert.ok(marked.callCount() > 8, `${marked.callCount()} marks`)
  client.write('\r\n{}\r\n0\r\n\r\n')
  await once(client, 'data')
  client.destroy()
  assert.ok(absorbed.callCount() <= 1, `${absorbed.callCount()} of nobody`)
})

async function until(isSo: () => boolean): Promise<void> {
  for (let left = 1000; !isSo(); left--) {
    assert.ok(left > 0, 'It came')
    await pause(2)
  }
}
