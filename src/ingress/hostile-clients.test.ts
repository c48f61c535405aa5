// Clients that mean to end the ingress for others.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls, createSecureContext } from 'node:tls'
import { setTimeout as pause } from 'node:timers/promises'
import { testCertificate } from './certificate.fixture.ts'
import { openInstance } from './instance.fixture.ts'
import { listenPlain, listenTls } from './server.ts'

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n'
const UPGRADE = `${GET}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`
const listen = { host: '127.0.0.1', port: 0 }

test('the first bytes of a connection may come one by one, of HTTP/1.1 and of HTTP/2', async (t) => {
  const { deps } = await openInstance(t, (_request, response) => response.end('ok'))
  const front = await listenPlain({ ...deps, listen })
  t.after(() => front.drain())
  const firstAnswer = async (text: string): Promise<Buffer> => {
    const client = connect({ port: front.port, host: '127.0.0.1', noDelay: true })
    const answered = once(client, 'data') as Promise<[Buffer]>
    for (const byte of text) {
      client.write(byte)
      await pause(1)
    }
    const [bytes] = await answered
    client.destroy()
    return bytes
  }
  for (const method of ['PUT', 'POST', 'GET']) {
    const answer = await firstAnswer(`${method} / HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    assert.match(String(answer), /^HTTP\/1\.1 200 OK[^]*ok$/)
  }
  // The settings of the server, as RFC 9113 (3.4) asks for.
  const [length, type] = (await firstAnswer('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).subarray(2, 4)
  assert.deepEqual([(length ?? 0) > 0, type], [true, 4])
})

test('connections that say nothing, or begin as HTTP/2 and are not, end', async (t) => {
  const { deps } = await openInstance(t, (_request, response) => response.end('ok'))
  const front = await listenPlain({ ...deps, listen })
  const open = async (text: string) => {
    const client = connect(front.port, '127.0.0.1')
    client.on('error', () => undefined)
    if (text !== '') client.write(text)
    await once(client, 'connect')
    return client
  }
  for (const text of ['PRI / HTTP/1.1\r\nHost: localhost\r\n\r\n', `PRI * HTTP/2.0\r\n\r\nGET`])
    for await (const chunk of (await open(text)).end()) assert.doesNotMatch(String(chunk), /^HTTP/)
  const silent = await open('')
  const closed = once(silent.resume(), 'close')
  await front.drain()
  await closed
})

test('Connection takes neither the length of a body away, nor what a proxy says', async (t) => {
  const asked: string[] = []
  const { deps } = await openInstance(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    asked.push(`${request.url} ${request.headers['x-forwarded-for']} ${body}`)
    response.end('ok')
  })
  const front = await listenPlain({ ...deps, trusts: () => true, listen })
  t.after(() => front.drain())
  const inner = 'GET /inner HTTP/1.1\r\nHost: localhost\r\n\r\n'
  for (const framing of [`Content-Length: ${inner.length}`, 'Transfer-Encoding: chunked']) {
    const isChunked = framing.endsWith('chunked')
    const body = isChunked ? `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n` : inner
    const client = connect(front.port, '127.0.0.1')
    client.write(
      `POST /outer HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n${framing}\r\n` +
        `Connection: close, host, content-length, transfer-encoding, x-forwarded-for\r\n\r\n${body}`,
    )
    let text = ''
    for await (const chunk of client) text += String(chunk)
    assert.match(text, /^HTTP\/1\.1 200 OK/)
    await pause(20)
    assert.deepEqual(asked.splice(0), [`/outer 192.0.2.1, 127.0.0.1 ${inner}`])
  }
})

test('a body in a transfer coding that an instance would not know is refused', async (t) => {
  let asked = 0
  const { deps } = await openInstance(t, (_request, response) => {
    asked++
    response.end('ok')
  })
  const front = await listenPlain({ ...deps, listen })
  t.after(() => front.drain())
  for (const coding of [
    'gzip, chunked',
    'chunked, chunked',
    'gzip\r\nTransfer-Encoding: chunked',
  ]) {
    const client = connect(front.port, '127.0.0.1')
    client.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: ${coding}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    )
    let text = ''
    for await (const chunk of client) text += String(chunk)
    assert.match(text, /^HTTP\/1\.1 400 /, coding)
  }
  assert.equal(asked, 0)
})

test('an upgrade with a body is refused', async (t) => {
  const { deps } = await openInstance(t, (_request, response) => response.end('ok'))
  const front = await listenPlain({ ...deps, listen })
  t.after(() => front.drain())
  for (const framing of ['Content-Length: 2', 'Content-Length: 0', 'Transfer-Encoding: chunked']) {
    const client = connect(front.port, '127.0.0.1')
    client.write(UPGRADE.replace('\r\n\r\n', `\r\n${framing}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`))
    let text = ''
    for await (const chunk of client) text += String(chunk)
    assert.match(text, /^HTTP\/1\.1 400 [^]*malformed_request/, framing)
  }
})

test('an upgrade behind requests without an answer is an ordinary request, by both ports', async (t) => {
  const { deps, users } = await openInstance(t, async (_request, response) => {
    await pause(100)
    response.end('ok')
  })
  const pair = testCertificate('localhost')
  const context = createSecureContext(pair)
  const plain = await listenPlain({ ...deps, listen })
  const tls = await listenTls({ ...deps, listen }, () => context)
  t.after(() => Promise.all([plain.drain(), tls.drain()]))
  const clients = [
    connect(plain.port, '127.0.0.1'),
    connectTls({ port: tls.port, servername: 'localhost', ca: pair.cert }),
  ]
  for (const client of clients) {
    client.write(`${GET}\r\n${GET}\r\n${UPGRADE}`)
    let text = ''
    for await (const chunk of client) text += String(chunk)
    assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 3)
  }
  for (let nth = 0; users.size > 0; nth++) {
    assert.ok(nth < 200, 'the use has not ended')
    await pause(10)
  }
})

test('a connection of HTTP/1.1 has one request under way, by both ports, and then the next', async (t) => {
  const held: (() => void)[] = []
  const { deps } = await openInstance(t, ({ url }, response) => {
    if (url === '/held') held.push(() => response.end('ok'))
    else response.end('ok')
  })
  const pair = testCertificate('localhost')
  const context = createSecureContext(pair)
  const plain = await listenPlain({ ...deps, listen })
  const tls = await listenTls({ ...deps, listen }, () => context)
  t.after(() => Promise.all([plain.drain(), tls.drain()]))
  const open = [
    () => connect(plain.port, '127.0.0.1'),
    () => connectTls({ port: tls.port, servername: 'localhost', ca: pair.cert }),
  ]
  const one = GET.replace('/', '/held')
  for (const [nth, connected] of open.entries()) {
    const client = connected()
    client.write(`${one}\r\n`.repeat(30))
    const other = connected()
    for (let turn = 0; turn < 10; turn++) {
      other.write(`${GET}\r\n`)
      await once(other, 'data')
    }
    assert.equal(held.length, 30 * nth + 1)
    let text = ''
    client.on('data', (bytes) => (text += String(bytes)))
    for (let answers = 1; answers <= 30; answers++) {
      held.at(-1)?.()
      while (text.match(/HTTP\/1\.1 200 OK/g)?.length !== answers) await pause(2)
      while (answers < 30 && held.length === 30 * nth + answers) await pause(2)
    }
    client.destroy()
    other.destroy()
  }
})

test('a connection that sends more requests ahead than any honest client is ended', async (t) => {
  const { deps } = await openInstance(t, () => undefined)
  const front = await listenPlain({ ...deps, listen })
  t.after(() => front.drain())
  const client = connect(front.port, '127.0.0.1')
  client.write(`${GET}\r\n`.repeat(500))
  for await (const _ of client) assert.fail('an answer')
})
