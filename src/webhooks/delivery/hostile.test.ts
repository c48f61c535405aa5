// Attempts at hostile endpoints, over real sockets and a real DNS server on loopback. 127.0.0.1 is permitted and stands for
// a public address; the canary on 127.0.0.2 stands for a machine of the operator and must never be connected to.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTcp, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { INTERIM_MAX } from '#base/limit-interim.ts'
import { signedHeaders } from '#contract/webhooks/webhook-signature.ts'
import { startDns } from '#webhooks/testing/dns-server.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { createAddressRule } from '#egress/addresses.ts'
import { createCheckedConnections } from '#egress/connections.ts'
import { createResolve } from '#egress/resolve.ts'
import { createDeliverySender } from './send.ts'
import { readTarget, type EndpointTarget } from './target.ts'

const CANARY = '127.0.0.2'
const GIB = 1024 ** 3
const rule = createAddressRule(['127.0.0.1'])
const body = Buffer.from('{"event":"balance.low"}')
const headers = signedHeaders({
  id: 'evt_1',
  type: 'balance.low',
  timestamp: 1_800_000_000,
  body,
  secrets: ['whsec_AAAA'],
})

/** An HTTP server on loopback; its port. */
async function serve(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'

/** A TCP server on loopback that answers the first bytes of each connection; its port. */
async function serveRaw(t: TestContext, answer: (socket: Socket) => void): Promise<number> {
  const server = createTcp((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A listener that counts connections, on the port of another one. */
async function openCanary(t: TestContext, port = 0) {
  let hits = 0
  const server = createTcp((socket) => {
    hits++
    socket.destroy()
  }).listen(port, CANARY)
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, hits: () => hits }
}

type Further = { readonly dns?: string; readonly limitMs?: number; readonly ca?: string }

async function attempt(url: string | EndpointTarget, { dns, limitMs, ca }: Further = {}) {
  const resolve = createResolve(dns === undefined ? undefined : [dns])
  const sender = createDeliverySender(
    createCheckedConnections({ rule, resolve, ...(ca !== undefined && { ca }) }),
  )
  const target = typeof url === 'string' ? readTarget(url, rule) : url
  try {
    return await sender.send({
      target,
      headers,
      body,
      mark: () => undefined,
      ...(limitMs !== undefined && { limitMs }),
    })
  } finally {
    sender.close()
  }
}

/** A target as it would be if nothing had judged the url. */
const unjudged = (hostname: string, port: number): EndpointTarget => ({
  isSecure: false,
  hostname,
  port,
  path: '/',
  host: hostname,
})

test('statuses: 2xx is delivered, all others are not', async (t) => {
  for (const status of [200, 201, 204, 299, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503]) {
    const port = await serve(t, (_, response) =>
      response.writeHead(status, { location: '/' }).end('why'),
    )
    const outcome = await attempt(`http://127.0.0.1:${port}/`)
    assert.deepEqual([outcome.status, outcome.isDelivered], [status, status < 300], String(status))
    if (status >= 300) assert.match(outcome.error ?? '', new RegExp(`answered ${status}`))
  }
})

test('an endless row of interim answers ends the attempt, and a few of them do not', async (t) => {
  let sent = 0
  const port = await serveRaw(t, (socket) => {
    const flood = setInterval(() => {
      sent++
      socket.write('HTTP/1.1 102 Processing\r\n\r\n')
    }, 1)
    socket.on('close', () => clearInterval(flood))
  })
  const { status, isDelivered, error } = await attempt(`http://127.0.0.1:${port}/`)
  assert.deepEqual([status, isDelivered], [null, false])
  assert.equal(error, `it sent more than ${INTERIM_MAX} interim answers (1xx)`)
  assert.ok(sent > INTERIM_MAX, String(sent))
  const few = await serveRaw(t, (socket) =>
    socket.end(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(INTERIM_MAX)}${NO_CONTENT}`),
  )
  assert.equal((await attempt(`http://127.0.0.1:${few}/`)).isDelivered, true)
})

test('a switch to another protocol is a failure that says so', async (t) => {
  const port = await serveRaw(t, (socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  )
  const { status, isDelivered, error } = await attempt(`http://127.0.0.1:${port}/`)
  assert.deepEqual([status, isDelivered, error], [101, false, 'it answered 101'])
})

test('a redirect to another machine is not followed', async (t) => {
  const canary = await openCanary(t)
  const port = await serve(t, (_, response) =>
    response.writeHead(307, { location: `http://${CANARY}:${canary.port}/` }).end(),
  )
  const { error } = await attempt(`http://127.0.0.1:${port}/`)
  assert.match(error ?? '', /redirects are not followed/)
  assert.equal(canary.hits(), 0)
})

test('Retry-After of 429 and 503 is honoured, up to a day', async (t) => {
  const restOf = async (status: number, after: string) => {
    const port = await serve(t, (_, response) =>
      response.writeHead(status, { 'retry-after': after }).end(),
    )
    return (await attempt(`http://127.0.0.1:${port}/`)).restMs
  }
  assert.equal(await restOf(429, '120'), 120_000)
  assert.equal(await restOf(503, '999999999'), 86_400_000)
  const date = (await restOf(503, new Date(Date.now() + 60_000).toUTCString())) ?? 0
  assert.ok(date > 50_000 && date <= 60_000, String(date))
  for (const bad of ['-5', 'soon', '1e9', '']) assert.equal(await restOf(429, bad), null, bad)
  assert.equal(await restOf(500, '120'), null)
})

test('an endpoint that hangs is given up after the time limit, also within the head', async (t) => {
  const silent = await serve(t, () => undefined)
  assert.match(
    (await attempt(`http://127.0.0.1:${silent}/`, { limitMs: 200 })).error ?? '',
    /no answer/,
  )
  const drip = createTcp((socket) => {
    const timer = setInterval(() => socket.write('X: y\r\n'), 20)
    socket.write('HTTP/1.1 200 OK\r\n')
    socket.on('error', () => undefined).on('close', () => clearInterval(timer))
  }).listen(0, '127.0.0.1')
  await once(drip, 'listening')
  t.after(() => drip.close())
  const { port } = drip.address() as AddressInfo
  assert.match(
    (await attempt(`http://127.0.0.1:${port}/`, { limitMs: 200 })).error ?? '',
    /no answer/,
  )
})

test('an answer of 1 GB is not read to its end, and its head decides', async (t) => {
  let sent = 0
  const port = await serve(t, (_, response) => {
    const piece = Buffer.alloc(64 * 1024, 'x')
    response.writeHead(200, { 'content-length': GIB })
    const write = () => {
      while (!response.destroyed && sent < GIB) {
        sent += piece.length
        if (!response.write(piece)) return response.once('drain', write)
      }
    }
    write()
  })
  const outcome = await attempt(`http://127.0.0.1:${port}/`)
  assert.deepEqual([outcome.isDelivered, outcome.answer?.length], [true, 1024])
  assert.ok(sent < GIB / 50, `${sent} bytes`)
})

test('an answer without an end holds its place until the time limit, and is delivered', async (t) => {
  const port = await serve(t, (_, response) => void response.writeHead(200).write('thanks'))
  const outcome = await attempt(`http://127.0.0.1:${port}/`, { limitMs: 200 })
  assert.deepEqual([outcome.isDelivered, outcome.answer], [true, 'thanks'])
})

test('bytes that are no text, NUL and broken answers are kept out of the log', async (t) => {
  const port = await serve(t, (_, response) => response.end(Buffer.from([0, 0xff, 0xfe, 65])))
  assert.equal((await attempt(`http://127.0.0.1:${port}/`)).answer, '\uFFFD\uFFFD\uFFFDA')
  const broken = createTcp((socket) => socket.end('this is no HTTP\r\n\r\n')).listen(0, '127.0.0.1')
  await once(broken, 'listening')
  t.after(() => broken.close())
  const outcome = await attempt(`http://127.0.0.1:${(broken.address() as AddressInfo).port}/`)
  assert.deepEqual([outcome.status, outcome.isDelivered], [null, false])
  assert.ok((outcome.error ?? '').length > 0)
})

test('nothing listens, and names that the DNS does not have, are said in words', async (t) => {
  const port = await serve(t, () => undefined)
  await using dns = await startDns((name) => (name === 'empty.example.com' ? [] : undefined))
  const further = { dns: dns.address }
  assert.match(
    (await attempt(unjudged('empty.example.com', port), further)).error ?? '',
    /DNS|address/,
  )
  assert.match((await attempt('http://127.0.0.1:9/')).error ?? '', /nothing listens/)
})

test('no form of a private address is connected to, by literal or by name', async (t) => {
  const canary = await openCanary(t)
  const forms = [
    '127.0.0.2',
    '127.2',
    '0177.0.0.2',
    '0x7f.0.0.2',
    '0x7f000002',
    '2130706434',
    '[::ffff:127.0.0.2]',
    '[::ffff:7f00:2]',
    '[::127.0.0.2]',
    '[64:ff9b::7f00:2]',
    '[2002:7f00:2::]',
  ]
  for (const form of forms)
    for (const scheme of ['http', 'https'])
      assert.throws(() => readTarget(`${scheme}://${form}:${canary.port}/`, rule), form)
  // Once more without the check of the url: the check of the connection must hold by itself.
  const addresses = [
    '127.0.0.2',
    '::ffff:127.0.0.2',
    '::ffff:7f00:2',
    '64:ff9b::7f00:2',
    '2002:7f00:2::',
    '0.0.0.0',
    '::',
  ]
  await using dns = await startDns((name) => [addresses[Number(name.split('.')[0])] ?? ''])
  for (const [nth, address] of addresses.entries())
    for (const target of [
      unjudged(address, canary.port),
      unjudged(`${nth}.example.com`, canary.port),
    ]) {
      const { error, isDelivered } = await attempt(target, { dns: dns.address })
      assert.match(error ?? '', /not public/, `${address}: ${error}`)
      assert.equal(isDelivered, false)
    }
  assert.equal(canary.hits(), 0)
})

test('a name with a public and a private address is refused as a whole', async (t) => {
  const port = await serve(t, (_, response) => response.end())
  const canary = await openCanary(t, port)
  await using dns = await startDns(() => ['127.0.0.1', CANARY])
  const { error } = await attempt(unjudged('mixed.example.com', port), { dns: dns.address })
  assert.match(error ?? '', /not public: 127\.0\.0\.2/)
  assert.equal(canary.hits(), 0)
})

test('a name that is bound to another address meanwhile is resolved once for a connection', async (t) => {
  let served = 0
  const port = await serve(t, (_, response) => {
    served++
    response.setHeader('connection', 'close').end()
  })
  const canary = await openCanary(t, port)
  // Each second answer is the private one.
  let answers = 0
  await using dns = await startDns(() => [answers++ % 4 < 2 ? '127.0.0.1' : CANARY])
  const outcomes = []
  for (let nth = 0; nth < 20; nth++)
    outcomes.push(await attempt(unjudged('rebinds.example.com', port), { dns: dns.address }))
  assert.equal(canary.hits(), 0)
  assert.equal(served, outcomes.filter(({ isDelivered }) => isDelivered).length)
  for (const { error, isDelivered } of outcomes)
    assert.ok(isDelivered || /not public/.test(error ?? ''))
  assert.ok(served > 0 && served < 20, `${served} served`)
})

test('a slow DNS of one name holds up no other name', async (t) => {
  const port = await serve(t, (_, response) => response.end())
  await using dns = await startDns((name) => (name.startsWith('slow') ? undefined : ['127.0.0.1']))
  const further = { dns: dns.address, limitMs: 5000 }
  const slow = Promise.all(
    Array.from({ length: 20 }, (_, nth) =>
      attempt(unjudged(`slow${nth}.example.com`, port), { ...further, limitMs: 1000 }),
    ),
  )
  const { isDelivered } = await attempt(unjudged('quick.example.com', port), further)
  assert.equal(isDelivered, true)
  for (const { error } of await slow) assert.match(error ?? '', /no answer|DNS/)
})

test('over TLS the certificate must be of the name and of a known authority', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = await selfSigned(folder, 'hooks.example.com')
  const [cert, key] = [readFileSync(files.cert, 'utf8'), readFileSync(files.key, 'utf8')]
  const names: string[] = []
  const server = createTlsServer({ cert, key }, (request, response) => {
    names.push(String(request.headers.host))
    response.end('secure')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  await using dns = await startDns(() => ['127.0.0.1'])
  const ask = (name: string, ca?: string) =>
    attempt(`https://${name}:${port}/`, { dns: dns.address, ...(ca !== undefined && { ca }) })
  const good = await ask('hooks.example.com', cert)
  assert.deepEqual([good.isDelivered, good.answer], [true, 'secure'], good.error ?? '')
  assert.match((await ask('hooks.example.com')).error ?? '', /certificate/i)
  assert.match((await ask('other.example.com', cert)).error ?? '', /altnames|certificate/i)
  assert.deepEqual(names, [`hooks.example.com:${port}`])
})
