// Connections to a server that answers in bytes of its own: their limits, their ends, TLS, and the texts that they send.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { behindKeyUpdates, sealedServer } from '#base/sealed-records.fixture.ts'
import { testCertificate } from '#ingress/certificate.fixture.ts'
import { KeptConnections, type ConnectionRules } from './kept-connections.ts'
import { NotHttp } from './heads.ts'
import { NotAnswered, Overdue } from './not-answered.ts'
import type { ServerPlace } from './open-socket.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const SHORT = `${OK}Content-Length: 2\r\n\r\nhi`
const LIMIT_MS = 200
const PATIENT_MS = 60_000
const LIMITS = { connection: PATIENT_MS, head: PATIENT_MS, body: PATIENT_MS }
const RULES: ConnectionRules = { idleMs: PATIENT_MS, lookMs: 20, limits: LIMITS }

type Opened = {
  readonly connections: KeptConnections
  readonly port: number
  readonly sockets: Socket[]
}

/** Calls `answer` with each socket and all that it has been sent until now. */
async function open(
  t: TestContext,
  answer: (socket: Socket, sent: string) => void,
  rules: Partial<ConnectionRules> = {},
): Promise<Opened> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    take(socket, answer)
  })
  const port = await listening(t, server, sockets)
  return { connections: kept(t, { host: '127.0.0.1', port }, rules), port, sockets }
}

function take(socket: Socket, answer: (socket: Socket, sent: string) => void): void {
  let sent = ''
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => answer(socket, (sent += bytes.toString('utf8'))))
}

async function listening(t: TestContext, server: Server, sockets: Socket[]): Promise<number> {
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

function kept(
  t: TestContext,
  place: ServerPlace,
  rules: Partial<ConnectionRules> = {},
): KeptConnections {
  const connections = new KeptConnections(place, { piece() {} }, { ...RULES, ...rules })
  t.after(() => connections.destroy())
  return connections
}

type Question = {
  readonly path?: string
  readonly text?: string
  readonly headers?: readonly string[]
  /** Says for each read whether more may come. */
  readonly waits?: (resume: () => void) => boolean
  readonly asked?: () => void
}

/** Resolves with the body. */
function ask(
  connections: KeptConnections,
  { path = '/', text, headers = ['host', 'localhost'], waits = () => true, asked }: Question = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    let body = ''
    const sent = text === undefined ? undefined : { text, length: Buffer.byteLength(text) }
    const method = text === undefined ? 'GET' : 'POST'
    const connection = connections.ask(
      { method, path, headers, isUpgrade: false, body: sent },
      {
        ...(asked && { asked }),
        interim() {},
        head() {},
        piece: (bytes) => void (body += bytes.toString('latin1')),
        waits: () => waits(() => connection.resume()),
        end: () => resolve(body),
        switched: () => reject(new TypeError('It has switched')),
        failed: reject,
      },
    )
  })
}

const overdue = (awaited: string) => (error: unknown) =>
  error instanceof Overdue && error.awaited === awaited

for (const [what, text] of Object.entries({ ASCII: 'hello', 'UTF-8': 'héllo ♥ 𝄞' }))
  test(`a text of ${what} is sent with its length`, async (t) => {
    const length = Buffer.byteLength(text)
    const whole = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n${text}`
    const { connections } = await open(t, (socket, sent) => {
      if (sent === whole.repeat(2)) socket.write(SHORT)
      else if (sent === whole) socket.write(SHORT)
    })
    for (let nth = 0; nth < 2; nth++) assert.equal(await ask(connections, { text }), 'hi')
  })

test('a request whose parts are of more lines than they should be is not sent', async (t) => {
  const { connections, sockets } = await open(t, (socket) => socket.write(SHORT))
  const more = 'a\r\nx-own: b'
  for (const bad of [
    { headers: ['host', 'localhost', 'authorization', `Bearer ${more}`] },
    { headers: ['host', 'localhost', `x: ${more}\r\nx`, 'c'] },
    { path: `/ HTTP/1.1\r\nx: ${more}\r\nx:` },
  ])
    await assert.rejects(ask(connections, { text: '{}', ...bad }), NotHttp)
  assert.equal(await ask(connections), 'hi')
  assert.equal(sockets.filter(({ bytesRead }) => bytesRead > 0).length, 1)
})

test('a server that does not begin its answer in time has failed, also one that drips its head', async (t) => {
  const limits = { ...LIMITS, head: LIMIT_MS }
  const { connections } = await open(t, () => undefined, { limits })
  await assert.rejects(ask(connections), overdue('head'))
  const drips = (socket: Socket) => {
    socket.write(OK)
    const drip = setInterval(() => socket.write('a: b\r\n'), 20)
    socket.on('close', () => clearInterval(drip))
  }
  const dripping = await open(t, drips, { limits })
  await assert.rejects(ask(dripping.connections), overdue('head'))
})

test('a server that falls silent in its answer has failed, and a slow reader is no silence', async (t) => {
  const limits = { ...LIMITS, body: LIMIT_MS }
  const { connections } = await open(
    t,
    (socket) => socket.write(`${OK}Content-Length: 9\r\n\r\nhi`),
    {
      limits,
    },
  )
  await assert.rejects(ask(connections), overdue('body'))
  const slow = await open(t, (socket) => socket.write(SHORT.slice(0, -1)), { limits })
  const waits = (resume: () => void) => {
    setTimeout(() => {
      resume()
      slow.sockets[0]?.write('i')
    }, 3 * LIMIT_MS)
    return false
  }
  assert.equal(await ask(slow.connections, { waits }), 'hi')
})

test('a connection that does not come in time is no answer, and nobody has been asked', async (t) => {
  // Its handshake gets no answer.
  const { port } = await open(t, () => undefined)
  const limits = { ...LIMITS, connection: LIMIT_MS }
  const connections = kept(t, { host: '127.0.0.1', port, tls: {} }, { limits })
  let isAsked = false
  const asked = () => (isAsked = true)
  await assert.rejects(ask(connections, { asked }), overdue('connection'))
  assert.equal(isAsked, false)
})

test('a server that is away has not been asked, and one that resets may have begun', async (t) => {
  const { connections, port } = await open(t, (socket) => socket.resetAndDestroy())
  const isReset = (wanted: boolean, hasBegun: boolean) => (error: unknown) =>
    error instanceof NotAnswered && error.isReset === wanted && error.hasBegun === hasBegun
  await assert.rejects(ask(connections), isReset(true, false))
  const begins = await open(t, (socket) => socket.end('HTTP/1.1 2'))
  await assert.rejects(ask(begins.connections), isReset(true, true))
  const away = kept(t, { host: 'localhost', port: 9 })
  await assert.rejects(ask(away), isReset(false, false))
  const nameless = kept(t, { host: 'nobody.invalid', port })
  await assert.rejects(ask(nameless), isReset(false, false))
})

test('there are no more connections than may be', async (t) => {
  const { connections, sockets } = await open(t, () => undefined, { connectionsMax: 1 })
  const asked = Promise.withResolvers<void>()
  const first = ask(connections, { asked: asked.resolve })
  await asked.promise
  await assert.rejects(ask(connections), NotAnswered)
  assert.ok(sockets.length <= 1)
  connections.destroy()
  await assert.rejects(first, { message: /have been closed/ })
})

test('a connection is not used any more when its server is about to close it', async (t) => {
  const said = (seconds: number) =>
    SHORT.replace('\r\n', `\r\nKeep-Alive: timeout=${seconds}, max=9\r\n`)
  for (const [seconds, count] of [
    [1, 2],
    [60, 1],
  ] as const) {
    const { connections, sockets } = await open(t, (socket) => socket.write(said(seconds)))
    for (let nth = 0; nth < 2; nth++) assert.equal(await ask(connections), 'hi')
    assert.equal(sockets.length, count)
  }
})

test('a connection that its server has closed is not asked again', async (t) => {
  const { connections, sockets } = await open(t, (socket) => socket.end(SHORT))
  for (let nth = 0; nth < 3; nth++) {
    assert.equal(await ask(connections), 'hi')
    const [closed] = sockets.splice(0)
    if (closed?.closed === false) await once(closed, 'close')
    await pause(10)
  }
})

test('an answer before the whole request was sent is taken, and its connection is not used again', async (t) => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    // Nothing of the body is read.
    socket.once('data', () => {
      socket.pause()
      socket.write(`HTTP/1.1 413 Large\r\nContent-Length: 2\r\n\r\nno`)
    })
  })
  const port = await listening(t, server, sockets)
  const connections = kept(t, { host: '127.0.0.1', port })
  const text = 'x'.repeat(64 << 20)
  for (let nth = 1; nth <= 2; nth++) {
    assert.equal(await ask(connections, { text }), 'no')
    assert.equal(sockets.length, nth)
  }
})

test('heads of 1xx before an answer are passed over', async (t) => {
  const early = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n'
  const { connections, sockets } = await open(t, (socket) => socket.write(early + SHORT))
  for (let nth = 0; nth < 2; nth++) assert.equal(await ask(connections, { text: '{}' }), 'hi')
  assert.equal(sockets.length, 1)
})

test('a server of TLS whose answer comes behind KeyUpdates is ended', async (t) => {
  const certificate = testCertificate('localhost')
  const sockets: Socket[] = []
  const serve = async (socket: Socket) => {
    sockets.push(socket.on('error', () => undefined))
    const end = await sealedServer(socket, certificate)
    await once(end.peer, 'data')
    socket.write(Buffer.concat(behindKeyUpdates(end, Buffer.from(SHORT))))
  }
  const server = createServer((socket) => void serve(socket))
  const port = await listening(t, server, sockets)
  const connections = kept(t, { host: 'localhost', port, tls: { ca: certificate.cert } })
  await assert.rejects(ask(connections), /too many KeyUpdates of TLS/)
})

test('a server of TLS is told its name, and must prove it', async (t) => {
  const { cert, key } = testCertificate('localhost')
  const sockets: Socket[] = []
  const names: unknown[] = []
  const server = createTlsServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    names.push(socket.servername, socket.alpnProtocol)
    take(socket, () => socket.write(SHORT))
  })
  server.on('connection', (socket) => sockets.push(socket))
  server.on('tlsClientError', () => undefined)
  const port = await listening(t, server, sockets)
  const connections = kept(t, { host: 'localhost', port, tls: { ca: cert } })
  for (let nth = 0; nth < 3; nth++) assert.equal(await ask(connections, { text: 'é' }), 'hi')
  assert.deepEqual(names, ['localhost', 'http/1.1'])
  assert.equal(sockets.length, 1)
  const strangers = [
    // Nobody trusts its authority.
    { host: 'localhost', port, tls: {} },
    // It has another name.
    { host: '127.0.0.1', port, tls: { ca: cert } },
  ]
  for (const place of strangers) {
    let isAsked = false
    const asked = () => (isAsked = true)
    await assert.rejects(ask(kept(t, place), { text: '{}', asked }), { code: /CERT/ })
    assert.equal(isAsked, false)
  }
})
