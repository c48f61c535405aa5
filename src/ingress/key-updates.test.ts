import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createSecureContext } from 'node:tls'
import { KEY_UPDATES_MAX } from '#base/limit-key-updates.ts'
import { behindKeyUpdates, sealedClient } from '#base/sealed-records.fixture.ts'
import { testCertificate } from './certificate.fixture.ts'
import { openInstance } from './instance.fixture.ts'
import { listenTls } from './server.ts'

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const NO_SETTINGS = '\0\0\0\x04\0\0\0\0\0'
const PING = '\0\0\x08\x06\0\0\0\0\0pingping'
/** The first bytes of a client, and bytes that may come behind them. */
const BYTES = [
  ['http/1.1', GET, GET],
  ['h2', `${PREFACE}${NO_SETTINGS}`, PING],
] as const

for (const [protocol, first, next] of BYTES)
  test(`a client whose bytes come behind KeyUpdates is ended at the ingress: ${protocol}`, async (t) => {
    const { deps } = await openInstance(t, (_request, response) => response.end('ok'))
    const context = createSecureContext(testCertificate('localhost'))
    const listen = { host: '127.0.0.1', port: 0 }
    const front = await listenTls({ ...deps, listen }, () => context)
    t.after(() => front.drain())
    const socket = connect(front.port, '127.0.0.1').on('error', () => undefined)
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    const client = await sealedClient(socket, protocol)
    const few = Array.from({ length: KEY_UPDATES_MAX }, () => client.keyUpdate())
    socket.write(Buffer.concat([...few, client.data(Buffer.from(first))]))
    await once(client.peer, 'data')
    // Without the limit the client is answered, and its connection stays.
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(5000) })
    socket.write(Buffer.concat(behindKeyUpdates(client, Buffer.from(next))))
    await closed
    assert.ok(socket.destroyed)
  })
