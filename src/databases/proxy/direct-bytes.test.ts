import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { readPair } from '#node/certificate-pair.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { openCertificate } from './certificate.ts'
import { takeBytes } from '#wire/direct-bytes.ts'
import { readBytes } from './read-bytes.ts'
import { socketPair } from './socket-pair.fixture.ts'

/** The same with TLS: the end that was accepted is the server's. */
async function securedPair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-bytes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { context } = openCertificate(readPair(await selfSigned(folder, 'localhost')))
  const [near, far] = await socketPair(t)
  const server = new TLSSocket(far, { isServer: true, secureContext: context })
  const client = connectTls({ socket: near, rejectUnauthorized: false })
  await once(client, 'secureConnect')
  return [client, server]
}

/** A socket of a Node that has other fields. */
async function changedPair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const [near, far] = await socketPair(t)
  Reflect.set(Reflect.get(far, '_handle') as object, 'useUserBuffer', undefined)
  return [near, far]
}

const PAIRS = { TCP: socketPair, TLS: securedPair, 'another Node': changedPair }

for (const [kind, pairOf] of Object.entries(PAIRS))
  test(`bytes are handed over, and are in the stream again at the end: ${kind}`, async (t) => {
    const [near, far] = await pairOf(t)
    near.write('early')
    await once(far, 'readable')
    let taken = ''
    const arrived = async (text: string) => {
      while (taken !== text) await new Promise((resolve) => setImmediate(resolve))
    }
    const end = takeBytes(far, (bytes) => (taken += String(bytes)))
    near.write(' and')
    await arrived('early and')
    near.write(' late')
    await arrived('early and late')
    // Else direct-bytes.ts does not know the fields of this Node.
    assert.equal(far.listenerCount('data'), kind === 'another Node' ? 1 : 0)
    end()
    far.pause()
    near.write('for another')
    const waiting = { signal: AbortSignal.timeout(5000), mark: () => undefined }
    assert.equal(String(await readBytes(far, 11, waiting)), 'for another')
    assert.equal(taken, 'early and late')
    near.end()
    far.resume()
    await once(far, 'end')
  })
