import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import { readPair } from '#node/certificate-pair.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { openCertificate } from './certificate.ts'
import { greet } from './handshake.ts'
import { socketPair } from './socket-pair.fixture.ts'
import { startupMessage } from '#wire/messages.ts'

/** The bytes that the server had written at each mark of a login with TLS. */
async function marksOf(t: TestContext, ecdhCurve: string): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-marks-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { context } = openCertificate(readPair(await selfSigned(folder, 'localhost')))
  const [near, far] = await socketPair(t)
  connect({ socket: near, rejectUnauthorized: false, ALPNProtocols: ['postgresql'], ecdhCurve })
    .on('error', () => undefined)
    .write(startupMessage(new Map([['user', 'u']])))
  const marks: number[] = []
  const signal = AbortSignal.timeout(10_000)
  await greet(far, context, { signal, mark: () => void marks.push(far.bytesWritten) })
  return marks
}

test('the CPU of a handshake with a HelloRetryRequest is marked before another login can mark it', async (t) => {
  // The client offers a key of the first group alone.
  const marks = await marksOf(t, 'P-384:X25519')
  const retry = marks.find((written) => written > 0)
  assert.equal(retry, 99)
  const afterRetry = marks.filter((written) => written === retry)
  assert.ok(afterRetry.length > 1, 'marked when the request was sent, and when keys were made')
})

test('the CPU of a startup message that comes byte by byte is marked with each byte', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-marks-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { context } = openCertificate(readPair(await selfSigned(folder, 'localhost')))
  const [near, far] = await socketPair(t)
  let marks = 0
  const greeted = greet(far, context, {
    signal: AbortSignal.timeout(10_000),
    mark: () => void marks++,
  })
  const message = startupMessage(new Map([['user', 'u']]))
  for (const byte of message) {
    near.write(Buffer.from([byte]))
    await pause(2)
  }
  await greeted
  assert.ok(marks >= message.length, `${marks} marks of ${message.length} bytes`)
})
