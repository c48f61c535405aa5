// Servers that tenants name, and that make a client of TLS compute without end. The records are those of a real handshake.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { setImmediate as turn } from 'node:timers/promises'
import { KEY_UPDATES_MAX } from '#base/limit-key-updates.ts'
import { behindKeyUpdates, sealedServer, type SealedEnd } from '#base/sealed-records.fixture.ts'
import { testCertificate } from '#ingress/certificate.fixture.ts'
import { createCheckedConnections } from './connections.ts'

const HOST = 'hooks.example.com'
const TOO_MANY = { message: 'too many KeyUpdates of TLS' }
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi')
const LIMIT_MS = 10_000
const certificate = testCertificate(HOST)

/** Asks a server at the port; rejects when it does not answer in time. */
function openClient(t: TestContext, port: number) {
  const connections = createCheckedConnections({
    rule: { permits: () => true },
    resolve: async () => ['127.0.0.1'],
    ca: certificate.cert,
  })
  t.after(() => connections.close())
  return async () => {
    const ending = AbortSignal.timeout(LIMIT_MS)
    const agent = connections.agentFor({ isSecure: true })
    const asked = { host: HOST, port, agent, ending, signal: ending }
    const sent = request(asked).end()
    const [answer] = await once(sent, 'response')
    return String(await buffer(answer))
  }
}

async function listening(t: TestContext, server: ReturnType<typeof createServer>) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A server that answers each request on a connection with the next of these pieces of records. */
async function answering(t: TestContext, ...answers: ((end: SealedEnd) => Iterable<Buffer>)[]) {
  const serve = async (socket: Socket) => {
    socket.on('error', () => undefined)
    t.after(() => socket.destroy())
    const end = await sealedServer(socket, certificate)
    for (const answer of answers) {
      await once(end.peer, 'data')
      for (const piece of answer(end)) {
        if (socket.destroyed) return
        socket.write(piece)
        await turn()
      }
    }
  }
  return openClient(
    t,
    await listening(
      t,
      createServer((socket) => void serve(socket)),
    ),
  )
}

const many = (make: () => Buffer, count: number) => Array.from({ length: count }, make)

test('a server whose answer comes behind KeyUpdates is ended, in one read and in many', async (t) => {
  const inOne = await answering(t, (end) => [Buffer.concat(behindKeyUpdates(end, ANSWER))])
  await assert.rejects(inOne(), TOO_MANY)
  const inMany = await answering(t, (end) => behindKeyUpdates(end, ANSWER))
  await assert.rejects(inMany(), TOO_MANY)
})

test('a server whose answer comes behind many tickets is ended', async (t) => {
  const ask = await answering(t, (end) => [...many(end.ticket, 100), end.data(ANSWER)])
  await assert.rejects(ask(), TOO_MANY)
})

test('a server whose answer comes behind many handshakes is ended', async (t) => {
  let handshakes = 0
  const renegotiate = (socket: TLSSocket) => {
    if (handshakes++ === 100) socket.write(ANSWER)
    else socket.renegotiate({}, () => renegotiate(socket))
  }
  const server = createTlsServer({ ...certificate, maxVersion: 'TLSv1.2' }, (socket) => {
    socket.on('error', () => undefined)
    t.after(() => socket.destroy())
    socket.once('data', () => renegotiate(socket))
  })
  await assert.rejects(openClient(t, await listening(t, server))(), TOO_MANY)
})

test('a server may renew its keys now and then', async (t) => {
  // It has sent two tickets.
  const updates = (end: SealedEnd) => many(end.keyUpdate, KEY_UPDATES_MAX - 2)
  const ask = await answering(
    t,
    (end) => [end.data(ANSWER)],
    (end) => [...updates(end), end.data(ANSWER)],
  )
  assert.deepEqual([await ask(), await ask()], ['hi', 'hi'])
})
