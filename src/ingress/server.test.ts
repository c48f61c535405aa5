// The listeners of the ingress with the clients that come: WebSocket, streams of events, HTTP/2, TLS by name.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, createServer as createBareServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect as connectTls, createSecureContext } from 'node:tls'
import { setTimeout as pause } from 'node:timers/promises'
import { fault } from '#contract/errors.ts'
import { CONNECTION_CHECK_MS, HEADERS_TIMEOUT_MS } from '#http/limits.ts'
import { createRequestLines } from '#http/request-lines.ts'
import { testCertificate } from './certificate.fixture.ts'
import { createContexts } from './certificates/contexts.ts'
import { openInstance } from './instance.fixture.ts'
import { listenPlain, listenTls, type IngressServer, type IngressServerDeps } from './server.ts'

const freePort = async (): Promise<number> => {
  const server = createBareServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function plain(
  t: TestContext,
  deps: Omit<IngressServerDeps, 'listen'>,
): Promise<{ readonly port: number; readonly front: IngressServer }> {
  const port = await freePort()
  const front = await listenPlain({ ...deps, listen: { host: '127.0.0.1', port } })
  t.after(() => front.drain())
  return { port, front }
}

const acceptOf = (key: string | undefined) =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

/** Sends each short frame of text back. */
const echo = (socket: NodeJS.ReadWriteStream) =>
  socket.on('data', (frame: Buffer) => {
    const [first = 0, second = 0] = frame
    if ((first & 15) === 8) return void socket.end(Buffer.from([0x88, 0]))
    const mask = frame.subarray(2, 6)
    const text = frame.subarray(6, 6 + (second & 127)).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
    socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]))
  })

test('a WebSocket goes through, counts as use while it is open, and ends when its resource does', async (t) => {
  const { server, deps, users } = await openInstance(t, (_request, response) => response.end('no'))
  server.on('upgrade', (request, socket) => {
    socket.on('error', () => undefined)
    const accept = acceptOf(request.headers['sec-websocket-key'])
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    echo(socket)
  })
  const { port } = await plain(t, deps)
  const open = async () => {
    const client = new WebSocket(`ws://localhost:${port}/chat`)
    await once(client, 'open')
    return client
  }
  const client = await open()
  for (const text of ['hello', 'again']) {
    client.send(text)
    const [message] = (await once(client, 'message')) as [MessageEvent]
    assert.equal(message.data, text)
  }
  assert.equal(users.size, 1)
  client.close()
  await once(client, 'close')
  for (let nth = 0; users.size > 0; nth++) {
    assert.ok(nth < 200, 'the use has not ended')
    await pause(10)
  }
  const second = await open()
  second.addEventListener('error', () => undefined)
  for (const ending of users) ending.abort(fault('function_suspended', 'Could not run it'))
  await once(second, 'close')
})

test('a caller that asks for a WebSocket and gets none has the answer, or the reason', async (t) => {
  const { deps } = await openInstance(t, (_request, response) =>
    response.writeHead(426, { 'content-length': 2 }).end('no'),
  )
  const { port } = await plain(t, deps)
  const ask = async (host: string): Promise<string> => {
    const client = connect(port, '127.0.0.1')
    client.write(
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n\r\n`,
    )
    let text = ''
    for await (const chunk of client) text += String(chunk)
    return text
  }
  assert.match(await ask('localhost'), /^HTTP\/1\.1 426 [\s\S]*\r\n\r\nno$/)
  assert.match(await ask('nobody.example'), /^HTTP\/1\.1 404 [\s\S]*route_not_found/)
})

test('events of a stream arrive as they are sent', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { deps } = await openInstance(t, async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 1\n\n')
    await gate.promise
    response.end('data: 2\n\n')
  })
  const { port } = await plain(t, deps)
  const answer = await fetch(`http://localhost:${port}/`)
  const events: string[] = []
  for await (const chunk of answer.body ?? []) {
    events.push(Buffer.from(chunk).toString())
    // The server sends the second part only after the first has arrived.
    gate.resolve()
  }
  assert.deepEqual(events, ['data: 1\n\n', 'data: 2\n\n'])
})

test('a body of megabytes goes both ways, and a slow reader holds it back', async (t) => {
  const { deps } = await openInstance(t, (request, response) => void request.pipe(response))
  const { port } = await plain(t, deps)
  const body = Buffer.alloc(8 * 1024 * 1024, 'joule')
  const answer = await fetch(`http://localhost:${port}/`, { method: 'POST', body })
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body ?? []) {
    if (chunks.length % 50 === 0) await pause(1)
    chunks.push(chunk)
  }
  assert.ok(Buffer.concat(chunks).equals(body))
})

test('connections to an instance are kept, and a request is not asked twice', async (t) => {
  let asked = 0
  const { server, deps } = await openInstance(t, (_request, response) => {
    asked++
    response.end('ok')
  })
  let connections = 0
  server.on('connection', () => connections++)
  const { port } = await plain(t, deps)
  for (let nth = 0; nth < 20; nth++)
    assert.equal(await (await fetch(`http://localhost:${port}/`)).text(), 'ok')
  assert.deepEqual([asked, connections], [20, 1])
})

test('a browser gets a page with the reason, others get JSON', async (t) => {
  const { deps } = await openInstance(t, (_request, response) => response.end())
  const { port } = await plain(t, deps)
  const page = await fetch(`http://127.0.0.1:${port}/<b>`, {
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  assert.deepEqual(
    [page.status, page.headers.get('content-type')],
    [404, 'text/html; charset=utf-8'],
  )
  const html = await page.text()
  assert.match(html, /Could not find a route/)
  assert.doesNotMatch(html, /<b>/)
  const json = await fetch(`http://127.0.0.1:${port}/`)
  assert.equal(json.headers.get('content-type'), 'application/problem+json')
})

test('headers of clients about who asked are not believed', async (t) => {
  const { deps } = await openInstance(t, (request, response) => {
    const names = ['for', 'proto', 'prefix', 'port'].map((name) => `x-forwarded-${name}`)
    const told = names.map((name) => String(request.headers[name]))
    response.end([...told, String(request.headers['x-request-id']).slice(0, 4)].join(' '))
  })
  const said = {
    'x-forwarded-for': '192.0.2.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/admin',
    'x-forwarded-port': '1',
    'x-request-id': 'forged',
  }
  const seen = async (trusts: IngressServerDeps['trusts']) => {
    const { port } = await plain(t, { ...deps, trusts })
    return await (await fetch(`http://localhost:${port}/`, { headers: said })).text()
  }
  assert.equal(await seen(() => false), '127.0.0.1 http undefined undefined req_')
  assert.equal(await seen(() => true), '192.0.2.1, 127.0.0.1 https /admin 1 req_')
})

test('names with underscores are not read as those that the ingress owns', async (t) => {
  const { deps } = await openInstance(t, ({ rawHeaders }, response) =>
    response.end(rawHeaders.filter((text, at) => at % 2 === 0 && text.includes('_')).join()),
  )
  const forged = [
    'X_Ergon_Event',
    'X_Svc_Event',
    'X_Forwarded_For',
    'X-Forwarded_For',
    'X_Request-Id',
    'Own_Name',
  ]
  const headers = Object.fromEntries(forged.map((name) => [name, 'forged']))
  for (const trusts of [() => false, () => true]) {
    const { port } = await plain(t, { ...deps, trusts })
    const answer = await fetch(`http://localhost:${port}/`, { headers })
    assert.equal((await answer.text()).toLowerCase(), 'own_name')
  }
})

test('TLS has the certificate of the name, HTTP/2 and HTTP/1.1, and no answer for other names', async (t) => {
  const { deps } = await openInstance(t, async (request, response) => {
    let bytes = 0
    for await (const chunk of request) bytes += (chunk as Buffer).length
    response.setHeader('x-own', ['1', '2'])
    response.end(
      `${request.method} ${request.headers.host} ${bytes} ${request.headers['x-forwarded-proto']}`,
    )
  })
  const pairs = {
    localhost: testCertificate('localhost'),
    other: testCertificate('other'),
  }
  const port = await freePort()
  const front = await listenTls({ ...deps, listen: { host: '127.0.0.1', port } }, (name) => {
    const pair = pairs[name as keyof typeof pairs]
    return pair && createSecureContext(pair)
  })
  t.after(() => front.drain())
  const session = connectHttp2(`https://localhost:${port}`, { ca: pairs.localhost.cert })
  t.after(() => session.destroy())
  const ask = async (headers: Record<string, string>, body?: Buffer) => {
    const stream = session.request(headers, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return [head[':status'], head['x-own'], text]
  }
  assert.deepEqual(await ask({ ':path': '/' }), [200, '1, 2', `GET localhost:${port} 0 https`])
  const post = { ':method': 'POST', ':path': '/' }
  assert.deepEqual(await ask(post, Buffer.alloc(1_000_000)), [
    200,
    '1, 2',
    `POST localhost:${port} 1000000 https`,
  ])
  const [status, , text] = await ask({ ':path': '/', ':authority': 'nobody.example' })
  assert.equal(status, 404)
  assert.match(String(text), /route_not_found/)
  const old = connectTls({
    port,
    servername: 'other',
    ca: pairs.other.cert,
    ALPNProtocols: ['http/1.1'],
  })
  await once(old, 'secureConnect')
  old.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  let seen = ''
  for await (const chunk of old) seen += String(chunk)
  assert.match(seen, /^HTTP\/1\.1 200 OK[\s\S]*GET localhost 0 https/)
  const stranger = connectTls({ port, servername: 'stranger', rejectUnauthorized: false })
  const [error] = (await once(stranger, 'error')) as [Error]
  assert.match(error.message, /alert|handshake|reset|disconnected/i)
})

test('requests that wait on the plain port and on that of TLS have one limit together', async (t) => {
  const { server, deps } = await openInstance(t, () => undefined)
  const pair = testCertificate('localhost')
  const context = createSecureContext(pair)
  // A waiting request counts 3 KiB: ten have room, and twenty do not.
  const lines = createRequestLines(40 * 1024)
  const listen = { host: '127.0.0.1', port: 0 }
  const secure = await listenTls({ ...deps, lines, listen }, () => context)
  t.after(() => secure.drain())
  const front = await listenPlain({ ...deps, lines, listen })
  t.after(() => front.drain())
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const sendAhead = async (client: Socket, count: number) => {
    t.after(() => client.destroy())
    client.on('error', () => undefined)
    const held = once(server, 'request')
    client.write(request)
    await held
    client.write(request.repeat(count))
    return client
  }
  const small = connectTls({ port: secure.port, servername: 'localhost', ca: pair.cert })
  await sendAhead(small, 6)
  const large = connect(front.port, '127.0.0.1')
  const signal = AbortSignal.timeout(10_000)
  await once((await sendAhead(large, 10)).resume(), 'close', { signal })
  assert.equal(small.destroyed, false)
})

test('TLS has the limits of the plain port: a header is as long, and who sends no request is left', async (t) => {
  const { deps } = await openInstance(t, (_request, response) => response.end('ok'))
  const pair = testCertificate('localhost')
  const context = createSecureContext(pair)
  const port = await freePort()
  const listen = { host: '127.0.0.1', port }
  const front = await listenTls({ ...deps, listen }, () => context)
  t.after(() => front.drain())
  const open = async (protocol: string) => {
    const ALPNProtocols = [protocol]
    const client = connectTls({ port, servername: 'localhost', ca: pair.cert, ALPNProtocols })
    t.after(() => client.destroy())
    client.on('error', () => undefined)
    await once(client, 'secureConnect')
    return client
  }
  const long = await open('http/1.1')
  const field = 'a'.repeat(20_000)
  long.write(
    `GET / HTTP/1.1\r\nHost: nobody.example\r\nConnection: close\r\nX-Long: ${field}\r\n\r\n`,
  )
  const [head] = (await once(long, 'data')) as [Buffer]
  assert.match(String(head), /^HTTP\/1\.1 404 /)
  const silent = await Promise.all([open('http/1.1'), open('h2')])
  const signal = AbortSignal.timeout(HEADERS_TIMEOUT_MS + 2 * CONNECTION_CHECK_MS)
  await Promise.all(silent.map((client) => once(client.resume(), 'close', { signal })))
})

test('a name whose certificate makes HTTPS the only way is asked by HTTPS, and browsers stay there', async (t) => {
  const { deps } = await openInstance(t, (_request, response) => response.end('ok'))
  const pair = testCertificate('localhost')
  const contexts = createContexts(deps.log)
  contexts.take({ host: 'localhost', pair })
  const port = await freePort()
  const https = { port, isOnly: true, contexts }
  const secure = await listenTls(
    { ...deps, https, listen: { host: '127.0.0.1', port } },
    contexts.of,
  )
  t.after(() => secure.drain())
  const { port: plainPort } = await plain(t, { ...deps, https })
  const asked = await fetch(`http://localhost:${plainPort}/a?b`, { redirect: 'manual' })
  assert.deepEqual(
    [asked.status, asked.headers.get('location')],
    [308, `https://localhost:${port}/a?b`],
  )
  // A name without a certificate has no other way.
  assert.equal((await fetch(`http://127.0.0.1:${plainPort}/`)).status, 404)
  const session = connectHttp2(`https://localhost:${port}`, { ca: pair.cert })
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
  assert.equal(head['strict-transport-security'], 'max-age=31536000')
  stream.resume()
  contexts.take({ host: 'localhost', pair: null })
  assert.equal(contexts.of('localhost'), undefined)
  contexts.take({ host: '*.example.com', pair })
  assert.ok(contexts.of('a.example.com') !== undefined)
  assert.equal(contexts.of('a.b.example.com'), undefined)
})
