// Blobs of a registry whose connections break off.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ErgonError, messageOf } from '#base/errors.ts'
import { createServer } from '#base/node-http.ts'
import { fetchBlob } from './blobs.ts'
import { createPullPace, type PullPaceLimits } from './pull-pace.ts'

test('a registry that resets again and again is the reason why an image is not pulled', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-blobs-'))
  t.after(() => rmSync(folder, { recursive: true }))
  let asked = 0
  const server = createServer((_request, response) => {
    asked++
    response.writeHead(200, { 'content-length': 1000 })
    response.write('begin')
    setTimeout(() => response.socket?.resetAndDestroy(), 50)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const source = {
    isLocal: false,
    root: () => Promise.reject(new TypeError('not asked for')),
    async blob() {
      const asking = get({ port, agent: false }).on('error', () => undefined)
      const [bytes] = (await once(asking, 'response')) as [IncomingMessage]
      return { from: 0, bytes }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const digest = `sha256:${'0'.repeat(64)}`
  const blob = { mediaType: 'application/octet-stream', digest, size: 1000 }
  await assert.rejects(
    fetchBlob(folder, source, blob, { pace: createPullPace(), signal: t.signal, retryMs: 1 }),
    (error: Error & { code?: string }) =>
      error.code === 'registry_unreachable' && /a blob broke off: /.test(error.message),
  )
  assert.equal(asked, 5)
})

/** Pulls a blob of which ten bytes come each few milliseconds; how often the registry was asked, and why it failed. */
async function pulledSlowly(t: TestContext, size: number, limits: Partial<PullPaceLimits>) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-pace-'))
  const bytes = Buffer.alloc(size)
  const pace = createPullPace({
    tickMs: 5,
    windowTicks: 10,
    windowBytes: 1,
    bytesPerTick: 0,
    behindTicks: 0,
    ...limits,
  })
  let asked = 0
  const source = {
    isLocal: false,
    root: () => Promise.reject(new TypeError('not asked for')),
    async blob(_: object, from: number, signal: AbortSignal) {
      asked++
      async function* trickle() {
        for (let at = from; at < size; at += 10) {
          await pause(5, undefined, { signal })
          yield bytes.subarray(at, at + 10)
        }
      }
      return { from, bytes: trickle() }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const digest = `sha256:${hash('sha256', bytes)}`
  const blob = { mediaType: 'application/octet-stream', digest, size }
  const error = await fetchBlob(folder, source, blob, { pace, signal: t.signal, retryMs: 1 }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  rmSync(folder, { recursive: true })
  return { asked, error }
}

test('a registry that sends little in a window is given up, once and with words', async (t) => {
  const { asked, error } = await pulledSlowly(t, 10_000, { windowBytes: 1_000_000 })
  assert.ok(error instanceof ErgonError)
  assert.equal(error.code, 'registry_unreachable')
  assert.match(error.message, /the registry is too slow: \d+ bytes in 1 s$/)
  assert.equal(asked, 1)
})

test('a pull that falls behind its rate by more than its allowance is given up before its end', async (t) => {
  const { error } = await pulledSlowly(t, 10_000, { bytesPerTick: 1000, behindTicks: 20 })
  assert.match(messageOf(error), /the registry is too slow/)
})

test('a pull within its pace ends well, and a time in which no registry is waited for does not count', async (t) => {
  assert.equal((await pulledSlowly(t, 500, {})).error, undefined)
  const pace = createPullPace({
    tickMs: 1,
    windowTicks: 2,
    windowBytes: 1,
    bytesPerTick: 0,
    behindTicks: 0,
  })
  assert.equal(await pace.keep(async () => await pause(50, 'ours'), t.signal), 'ours')
  const silent = pace.keep((ending) => pace.wait(pause(10_000, '', { signal: ending })), t.signal)
  await assert.rejects(silent, { code: 'registry_unreachable' })
})
