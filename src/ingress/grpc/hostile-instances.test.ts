// Instances whose answers to gRPC are not to be passed on: they end the ingress for nobody, and one that speaks HTTP/1.1
// alone counts as one that runs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { testCertificate } from '#ingress/certificate.fixture.ts'
import { openInstance } from '#ingress/instance.fixture.ts'
import { openInstancePool } from '#ingress/instance-pool.ts'
import { listenTls } from '#ingress/server.ts'
import { NO_WORK } from '#ingress/uncounted.fixture.ts'

const DATA = 0
const HEADERS = 1
const RST_STREAM = 3
const SETTINGS = 4
const PING = 6
const WINDOW_UPDATE = 8
const END_STREAM = 1
const END_HEADERS = 4

const frame = (type: number, flags: number, stream: number, payload = Buffer.alloc(0)) =>
  Buffer.concat([Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream]), payload])
/** A frame of HTTP/2 for the first stream. Node's own server would not send such a status. */
const statusFrame = (status: string, flags = 0) =>
  frame(HEADERS, END_HEADERS | flags, 1, Buffer.concat([Buffer.from([8, 3]), Buffer.from(status)]))

/** Calls an instance that sends these bytes, and then says nothing; resolves with the answer, and how often it was down. */
async function call(
  t: TestContext,
  bytes: Buffer,
  {
    speaks = true,
    isEnd = false,
    endless,
    silenceMs,
  }: { speaks?: boolean; isEnd?: boolean; endless?: Buffer; silenceMs?: number } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-grpc-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const socketPath = join(folder, 'instance')
  const gone = Promise.withResolvers<void>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    // It ends nothing by itself.
    const sending = setInterval(() => endless && socket.write(endless), 50)
    socket.once('close', () => {
      clearInterval(sending)
      gone.resolve()
    })
    // The head of a call has come.
    let seen = 0
    socket.on('data', (chunk) => {
      if (seen === 0 && speaks) socket.write(frame(SETTINGS, 0, 0))
      seen += chunk.length
      if (seen < (speaks ? 60 : 24)) return
      seen = -Infinity
      if (isEnd) socket.end(bytes)
      else socket.write(bytes)
    })
  })
  await once(server.listen(socketPath), 'listening')
  t.after(() => server.close())
  const { deps } = await openInstance(t, () => undefined, { kind: 'workload' })
  const pool = openInstancePool(`unix:${socketPath}`, NO_WORK)
  t.after(() => pool.destroy())
  let downs = 0
  const uses: typeof deps.uses = {
    async begin(route, ending) {
      return { ...(await deps.uses.begin(route, ending)), pool, down: () => void downs++ }
    },
  }
  const pair = testCertificate('localhost')
  const context = createSecureContext(pair)
  const front = await listenTls(
    { ...deps, uses, silenceMs, listen: { host: '127.0.0.1', port: 0 } },
    () => context,
  )
  t.after(() => front.drain())
  const session = connectHttp2(`https://localhost:${front.port}`, { ca: pair.cert })
  t.after(() => session.destroy())
  const asked = session.request({
    ':method': 'POST',
    ':path': '/Echo/One',
    'content-type': 'application/grpc',
  })
  asked.end()
  const signal = AbortSignal.timeout(4000)
  let body = ''
  const [head] = (await once(asked, 'response', { signal })) as [Record<string, unknown>]
  asked.on('error', () => undefined).on('data', (chunk) => (body += String(chunk)))
  if (!asked.closed) await once(asked, 'close', { signal }).catch(() => undefined)
  return { head, downs, body, code: asked.rstCode, gone: gone.promise }
}

test('a status that HTTP does not have is a failure of the workload, with and without messages', async (t) => {
  for (const status of ['700', '020', '999'])
    for (const flags of [0, END_STREAM]) {
      const { head, downs } = await call(t, statusFrame(status, flags))
      assert.equal(head[':status'], 200)
      assert.match(decodeURIComponent(String(head['grpc-message'])), /the workload failed/, status)
      assert.equal(downs, 0)
    }
})

test('an instance that speaks HTTP/1.1 alone is not down, and the caller reads why', async (t) => {
  const bytes = Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  const { head, downs } = await call(t, bytes, { speaks: false, isEnd: true })
  assert.match(decodeURIComponent(String(head['grpc-message'])), /does not speak HTTP\/2/)
  assert.equal(downs, 0)
})

test('an instance that ends during a call is down', async (t) => {
  const { head, downs } = await call(t, Buffer.alloc(0), { isEnd: true })
  assert.match(decodeURIComponent(String(head['grpc-message'])), /has ended/)
  assert.equal(downs, 1)
})

test('messages behind a refused head do not go out', async (t) => {
  const bytes = Buffer.concat([statusFrame('700'), frame(DATA, END_STREAM, 1, Buffer.from('more'))])
  const { head, body } = await call(t, bytes)
  assert.match(decodeURIComponent(String(head['grpc-message'])), /the workload failed/)
  assert.equal(body, '')
})

test('a reset without an error behind a part of the answer does not look like a whole one', async (t) => {
  const reset = frame(RST_STREAM, 0, 1, Buffer.alloc(4))
  const part = frame(DATA, 0, 1, Buffer.from('part'))
  const { code } = await call(t, Buffer.concat([statusFrame('200'), part, reset]))
  assert.equal(code, 2)
})

test('an instance that sends interim answers without end has failed', async (t) => {
  const { head } = await call(
    t,
    Buffer.concat(Array.from({ length: 100 }, () => statusFrame('103'))),
  )
  assert.equal(head[':status'], 200)
  assert.match(decodeURIComponent(String(head['grpc-message'])), /the workload failed/)
})

const ONE = Buffer.from([0, 0, 0, 1])
const ENDLESS = Buffer.concat([
  frame(PING, 0, 0, Buffer.alloc(8)),
  frame(SETTINGS, 0, 0),
  frame(WINDOW_UPDATE, 0, 0, ONE),
])

test('frames without a call keep no connection of an instance open', async (t) => {
  const bytes = statusFrame('200', END_STREAM)
  const { head, gone } = await call(t, bytes, { endless: ENDLESS })
  assert.equal(head[':status'], 200)
  assert.equal(await Promise.race([gone, pause(8000, 'open', { ref: false })]), undefined)
})

test('frames without a message do not renew the silence of a call', async (t) => {
  const endless = Buffer.concat([ENDLESS, frame(WINDOW_UPDATE, 0, 1, ONE)])
  const { code } = await call(t, statusFrame('200'), { endless, silenceMs: 500 })
  assert.equal(code, 8)
})
