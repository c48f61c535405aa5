import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { KEY_UPDATES_MAX } from '#base/limit-key-updates.ts'
import { behindKeyUpdates, sealedClient, type SealedEnd } from '#base/sealed-records.fixture.ts'
import { readPair } from '#node/certificate-pair.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { takeBytes } from '#wire/direct-bytes.ts'
import { startupMessage } from '#wire/messages.ts'
import { openCertificate } from './certificate.ts'
import { greet, type Greeting } from './handshake.ts'
import { socketPair } from './socket-pair.fixture.ts'

const STARTUP = startupMessage(new Map([['user', 'u']]))
const TOO_MANY = /too many KeyUpdates/

type Greeted = {
  readonly near: Socket
  readonly client: SealedEnd
  readonly greeting: Promise<Greeting>
}

async function greeted(t: TestContext): Promise<Greeted> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-updates-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { context } = openCertificate(readPair(await selfSigned(folder, 'localhost')))
  const [near, far] = await socketPair(t)
  const waiting = { signal: AbortSignal.timeout(10_000), mark: () => undefined }
  const greeting = greet(far, context, waiting)
  greeting.catch(() => undefined)
  return { near, client: await sealedClient(near, 'postgresql'), greeting }
}

test('a stranger whose bytes come behind KeyUpdates is ended, in one read and in many', async (t) => {
  const inOne = await greeted(t)
  inOne.near.write(Buffer.concat(behindKeyUpdates(inOne.client, STARTUP)))
  await assert.rejects(inOne.greeting, TOO_MANY)
  const inMany = await greeted(t)
  for (const piece of behindKeyUpdates(inMany.client, STARTUP)) {
    inMany.near.write(piece)
    await turn()
  }
  await assert.rejects(inMany.greeting, TOO_MANY)
})

/** A session whose bytes are taken from here on. */
async function session(t: TestContext) {
  const { near, client, greeting } = await greeted(t)
  near.write(client.data(STARTUP))
  const begun = await greeting
  assert.ok(begun.kind === 'session')
  const { socket } = begun
  const taken = { bytes: 0, error: '' }
  socket.on('error', (error) => (taken.error = String(error)))
  takeBytes(socket, (bytes) => (taken.bytes += bytes.length))
  const send = async (bytes: Buffer, until: number) => {
    near.write(bytes)
    while (taken.bytes < until && !socket.destroyed) await turn()
    await turn()
  }
  return { client, taken, send }
}

test('a session whose bytes come behind KeyUpdates is ended before the next byte', async (t) => {
  const slow = await session(t)
  await slow.send(Buffer.concat(behindKeyUpdates(slow.client, Buffer.alloc(70))), 70)
  assert.match(slow.taken.error, TOO_MANY)
  assert.equal(slow.taken.bytes, 0)
})

test('a session may renew its keys eight times, and not nine', async (t) => {
  const { client, taken, send } = await session(t)
  const next = () => Buffer.concat([client.keyUpdate(), client.data(Buffer.alloc(1))])
  for (let nth = 1; nth <= KEY_UPDATES_MAX; nth++) await send(next(), nth)
  assert.deepEqual(taken, { bytes: KEY_UPDATES_MAX, error: '' })
  await send(next(), KEY_UPDATES_MAX + 1)
  assert.match(taken.error, TOO_MANY)
})
