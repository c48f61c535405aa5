import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { readPair } from '#node/certificate-pair.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { startupMessage } from '#wire/messages.ts'
import { openCertificate } from './certificate.ts'
import { greet } from './handshake.ts'
import { socketPair } from './socket-pair.fixture.ts'

test('a client of TLS 1.2 gets no second handshake, and goes on', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-renegotiation-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { context } = openCertificate(readPair(await selfSigned(folder, 'localhost')))
  const [near, far] = await socketPair(t)
  const signal = AbortSignal.timeout(10_000)
  const greeting = greet(far, context, { signal, mark: () => undefined })
  const client = connect({
    socket: near,
    ALPNProtocols: ['postgresql'],
    maxVersion: 'TLSv1.2',
    rejectUnauthorized: false,
  })
  await once(client, 'secureConnect')
  assert.equal(client.getProtocol(), 'TLSv1.2')
  client.write(startupMessage(new Map([['user', 'u']])))
  const begun = await greeting
  assert.ok(begun.kind === 'session')
  let handshakes = 0
  begun.socket.on('keylog', () => handshakes++)
  const refused = once(client, 'error', { signal })
  client.renegotiate({ rejectUnauthorized: false }, () => undefined)
  const first = await Promise.race([refused, once(begun.socket, 'keylog', { signal })])
  assert.match(String(first[0]), /no renegotiation/i)
  assert.equal(handshakes, 0)
})
