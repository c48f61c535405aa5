// The proxy at its own socket: whose a connection is, how many an account has, and what goes through.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { floodInterim } from '#base/interim-flood.fixture.ts'
import type { OwnAddress } from '#node/own-addresses.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'
import { createReach } from './reach.ts'
import { createEgressServer } from './server.ts'
import { makeTicket } from './ticket.ts'
import { createConnectionTurns } from './turns.ts'

const KEY = 'key'
const [LOOPBACK, PROXY] = ['127.0.0.1', 3128]

type Setting = {
  readonly own?: readonly OwnAddress[]
  readonly openMax?: number
  readonly networks?: readonly string[]
  readonly silenceMs?: number
  /** Addresses of names (default 127.0.0.1). */
  readonly addresses?: Readonly<Record<string, string>>
}

async function start(
  t: TestContext,
  { own = [], openMax = 2000, networks = [LOOPBACK], silenceMs, addresses = {} }: Setting = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'egress-'))
  const told: string[] = []
  const server = createEgressServer({
    key: KEY,
    own,
    reach: createReach({ own, networks, resolve: async (name) => [addresses[name] ?? LOOPBACK] }),
    turns: createConnectionTurns(systemClock, openMax),
    caused: createCausedByCells(),
    tell: ({ cell, text: words }) => told.push(`${cell}: ${words}`),
    ...(silenceMs !== undefined && { silenceMs }),
  })
  server.listen(join(folder, 's'))
  await once(server, 'listening')
  t.after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  return {
    told,
    path: join(folder, 's'),
    /** A connection that pid 1 has greeted for; `ticket` in the place of the right one. */
    open(
      account: string,
      port: number,
      ticket = makeTicket(KEY, { cell: 'fn-a-1', account }),
    ): Socket {
      const socket = connect(join(folder, 's'))
      socket.on('error', () => undefined)
      socket.write(`${ticket} ${port}\n`)
      t.after(() => socket.destroy())
      return socket
    },
  }
}

/** A TCP server that reports its callers, and echoes their bytes. */
async function echo(t: TestContext): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    socket.write(`${socket.remoteAddress}\n`)
    socket.pipe(socket)
  }).listen(0, LOOPBACK)
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

test('a connection without the ticket of its cell ends without a byte', async (t) => {
  const { open } = await start(t)
  const good = makeTicket(KEY, { cell: 'fn-a-1', account: 'acct_a' })
  const forged = [
    good.replace('acct_a', 'acct_b'),
    good.replace('fn-a-1', 'fn-b-1'),
    good.slice(0, -1),
    makeTicket('another key', { cell: 'fn-a-1', account: 'acct_a' }),
    '',
  ]
  for (const ticket of forged) {
    const socket = open('acct_a', PROXY, ticket)
    socket.write('GET http://localhost/ HTTP/1.1\r\n\r\n')
    assert.equal(await text(socket).catch(() => ''), '', ticket)
  }
})

test('a port of the service leads there, from an address of the account', async (t) => {
  const port = await echo(t)
  const own = [{ names: ['db.example.com'], port: 5432, listens: { host: LOOPBACK, port } }]
  const { open } = await start(t, { own })
  const said = async (account: string) => {
    const socket = open(account, 5432)
    socket.end('x'.repeat(300_000))
    return (await text(socket)).split('\n')
  }
  const [[one = '', words], [again], [other]] = await Promise.all(
    ['acct_a', 'acct_a', 'acct_b'].map(said),
  ).then((all) => all as [string[], string[], string[]])
  assert.equal(words, 'x'.repeat(300_000))
  assert.match(one, /^127\./)
  assert.notEqual(one, LOOPBACK)
  assert.equal(again, one)
  assert.notEqual(other, one)
  const elsewhere = open('acct_a', 5433)
  assert.equal(await text(elsewhere).catch(() => ''), '')
})

test('a public name of the service may have a private address, at its port alone', async (t) => {
  const port = await echo(t)
  const own = [{ names: ['api.example.com', '*.api.example.com'], port }]
  const addresses = { 'stray.api.example.com': '127.0.0.8' }
  const { open, told } = await start(t, { own, networks: [], addresses })
  const lineOf = async (place: string) => {
    const socket = open('acct_a', PROXY)
    socket.write(`CONNECT ${place} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    return chunk.toString('latin1').split('\r\n')[0] ?? ''
  }
  assert.match(await lineOf(`api.example.com:${port}`), / 200 /)
  assert.match(await lineOf(`bucket.api.example.com:${port}`), / 200 /)
  for (const place of [`api.example.com:${port - 1}`, `apix.example.com:${port}`])
    assert.match(await lineOf(place), / 403 .*: the address is not public: 127\.0\.0\.1$/)
  // A name below that leads elsewhere: to a machine of the operator.
  const stray = await lineOf(`stray.api.example.com:${port}`)
  assert.match(stray, / 403 .*: the address is not public: 127\.0\.0\.8$/)
  assert.match(told.join(), /^fn-a-1: Could not connect to api\.example\.com:\d+: the address/)
})

test('requests of one connection are forwarded whole, without the headers of a hop', async (t) => {
  const seen: string[] = []
  const server = createHttp((request, response) => {
    void text(request).then((body) => {
      const { host, te, accept, 'proxy-authorization': proxy } = request.headers
      seen.push([request.method, request.url, host, te, accept, proxy, body].join(' '))
      response.writeHead(200, 'Fine', { 'x-own': '1' })
      response.write('one, ')
      response.end('two')
    })
  }).listen(0, LOOPBACK)
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { open } = await start(t)
  const socket = open('acct_a', PROXY)
  const head = `host: a.example.com\r\naccept: b\r\nte: trailers\r\nproxy-authorization: c\r\n`
  socket.write(
    `POST http://a.example.com:${port}/p?q HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  )
  socket.write(`GET http://a.example.com:${port}/last HTTP/1.1\r\n${head}connection: close\r\n\r\n`)
  const answer = await text(socket)
  assert.deepEqual(seen, ['POST /p?q a.example.com  b  hello', 'GET /last a.example.com  b  '])
  assert.equal(answer.match(/HTTP\/1\.1 200 Fine\r\nx-own: 1/g)?.length, 2, answer)
})

test('an answer in another protocol, for which nobody has asked, is none', async (t) => {
  const { open } = await start(t)
  const there = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: own\r\nConnection: upgrade\r\n\r\n')
  }).listen(0, LOOPBACK)
  await once(there, 'listening')
  t.after(() => there.close())
  const { port } = there.address() as AddressInfo
  const client = open('acct_a', PROXY)
  client.write(`GET http://there:${port}/ HTTP/1.1\r\nHost: there\r\n\r\n`)
  assert.match(await text(client), /^HTTP\/1\.1 502 Could not connect to .*another protocol/)
})

test('a connection opens one other at a time, whatever is sent ahead', async (t) => {
  let [open, most, hits] = [0, 0, 0]
  const server = createServer((socket) => {
    most = Math.max(most, ++open)
    hits++
    socket.on('error', () => undefined).once('close', () => open--)
    socket.once('data', () =>
      setTimeout(() => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n.'), 5),
    )
  }).listen(0, LOOPBACK)
  await once(server, 'listening')
  t.after(() => server.close())
  const place = `localhost:${(server.address() as AddressInfo).port}`
  const { open: call } = await start(t)
  const ahead = (count: number, last: string): Socket => {
    const socket = call('acct_a', PROXY)
    socket.write(`GET http://${place}/ HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(count) + last)
    return socket
  }
  const few = await text(ahead(9, `CONNECT ${place} HTTP/1.1\r\nhost: x\r\n\r\nx`))
  assert.deepEqual([few.match(/ 200 OK/g)?.length, hits], [10, 10], few)
  const many = await text(ahead(100, ''))
  assert.match(many, / 429 .*: more than 16 requests wait for answers\r\n/)
  // The server hears of an end after the next connection may have come.
  assert.ok(most <= 2, String(most))
})

test('an account opens no more than its part, and others keep theirs', async (t) => {
  const port = await echo(t)
  const own = [{ names: ['localhost'], port: 5432, listens: { host: LOOPBACK, port } }]
  const { open, told } = await start(t, { own, openMax: 64 })
  const opens = async (account: string): Promise<boolean> => {
    const socket = open(account, 5432)
    return await Promise.race([
      once(socket, 'data').then(() => true),
      once(socket, 'close').then(() => false),
    ])
  }
  const greedy = []
  for (let nth = 0; nth < 10; nth++) greedy.push(await opens('acct_a'))
  assert.equal(greedy.filter(Boolean).length, 8)
  assert.match(told[0] ?? '', /too many connections open/)
  for (let nth = 0; nth < 4; nth++) assert.ok(await opens('acct_b'))
})

test('the part of an account is free again once its connections end', async (t) => {
  const port = await echo(t)
  const own = [{ names: ['localhost'], port: 5432, listens: { host: LOOPBACK, port } }]
  const { open } = await start(t, { own, openMax: 64 })
  for (let nth = 0; nth < 20; nth++) {
    const socket = open('acct_a', 5432)
    socket.end('x')
    assert.match(await text(socket), /^127\..*\nx$/)
  }
})

test('a connection that is not greeted ends', { timeout: 20_000 }, async (t) => {
  const { path } = await start(t)
  assert.equal(await text(connect(path)), '')
})

test('a connection over which nothing is sent for long ends, of all three kinds', async (t) => {
  const mute = createServer((socket) => socket.on('error', () => undefined)).listen(0, LOOPBACK)
  await once(mute, 'listening')
  t.after(() => mute.close())
  const { port } = mute.address() as AddressInfo
  const own = [{ names: ['localhost'], port: 5432, listens: { host: LOOPBACK, port } }]
  const { open } = await start(t, { own, silenceMs: 300 })
  const place = `localhost:${port}`
  const direct = open('acct_a', 5432)
  const tunnel = open('acct_a', PROXY)
  tunnel.write(`CONNECT ${place} HTTP/1.1\r\nhost: x\r\n\r\n`)
  const plain = open('acct_a', PROXY)
  plain.write(`GET http://${place}/ HTTP/1.1\r\nhost: x\r\n\r\n`)
  const ended = (socket: Socket) =>
    once(socket.resume(), 'close', { signal: AbortSignal.timeout(20_000) })
  await Promise.all([direct, tunnel, plain].map(ended))
})

test('a server that sends interim answers without end is a failure', async (t) => {
  const port = await floodInterim(t)
  const { open } = await start(t)
  const socket = open('acct_a', PROXY)
  socket.write(`GET http://${LOOPBACK}:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  const signal = AbortSignal.timeout(5000)
  const [chunk] = (await once(socket, 'data', { signal })) as [Buffer]
  assert.match(
    chunk.toString('latin1'),
    /^HTTP\/1\.1 502 Could not connect to .*: it sent more than 16 interim answers \(1xx\)\r\n/,
  )
})
