// Clients that mean to end the ingress for others.
import assert from 'node:assert/strict'
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
