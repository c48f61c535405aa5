import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createBackends, KEPT_MAX, KEPT_MS } from './backends.ts'
import { AUTHENTICATED, fatalMessage, message, queryMessage, READY, TYPE } from '#wire/messages.ts'

const mark = () => undefined
const waiting = { signal: new AbortController().signal, mark }

/** A server that logs everybody in, and gives each query the same answer. */
async function serve(t: TestContext, answer = READY) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-backends-'))
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Buffer.concat([AUTHENTICATED, message(TYPE.backendKey, Buffer.alloc(8)), READY]))
      socket.on('data', () => socket.write(answer))
    })
  })
  const socketPath = join(folder, 's')
  server.listen(socketPath)
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
    rmSync(folder, { recursive: true })
  })
  return { place: { socketPath, parameters: new Map([['user', 'u']]) }, sockets }
}

test('a server that has ended breaks the write to it, and nothing else', async (t) => {
  const { place, sockets } = await serve(t)
  const backends = createBackends()
  const { socket } = await backends.open(place, waiting)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  sockets[0]?.destroy()
  for (let n = 0; n < 10; n++) socket.write(queryMessage('select 1'))
  await closed
  // An error of the write that has no listener ends the process: here it would fail the test.
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(socket.destroyed)
})

test('backends that are kept at the same time are all there for the next clients', async (t) => {
  const { place, sockets } = await serve(t)
  const backends = createBackends()
  const [one, other] = await Promise.all([
    backends.open(place, waiting),
    backends.open(place, waiting),
  ])
  await Promise.all([one, other].map((backend) => backends.keep(place, backend, mark)))
  const again = [await backends.open(place, waiting), await backends.open(place, waiting)]
  assert.deepEqual(new Set(again), new Set([one, other]))
  assert.equal(sockets.length, 2)
  for (const backend of again) backend.socket.destroy()
})

test('a backend whose cancel request is under way waits for its end before the next client', async (t) => {
  const { place, sockets } = await serve(t)
  const backends = createBackends()
  const backend = await backends.open(place, waiting)
  void backends.cancel(place, backend)
  let isKept = false
  const kept = backends.keep(place, backend, mark).then(() => (isKept = true))
  while (sockets.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(isKept, false)
  sockets[1]?.end()
  await kept
  assert.equal(await backends.open(place, waiting), backend)
  backend.socket.destroy()
})

test('the backends that are kept of one server are few, and those kept longest make room', async (t) => {
  const { place } = await serve(t)
  const backends = createBackends()
  const all = await Promise.all(
    Array.from({ length: KEPT_MAX + 1 }, () => backends.open(place, waiting)),
  )
  for (const backend of all) await backends.keep(place, backend, mark)
  assert.ok(all[0]?.socket.destroyed === true || all[0]?.socket.writableEnded === true)
  for (const backend of all.slice(1).toReversed())
    assert.equal(await backends.open(place, waiting), backend)
  for (const { socket } of all) socket.destroy()
})

test('a backend that cannot be reset is ended, and the next client has another one', async (t) => {
  const refused = fatalMessage({
    code: '25001',
    message: 'DISCARD ALL cannot run here',
    hint: 'none',
  })
  for (const [answer, isKept] of [
    [READY, true],
    [Buffer.concat([refused, READY]), false],
    [message(TYPE.ready, Buffer.from('T')), false],
    [Buffer.concat([READY, READY]), false],
  ] as const) {
    const { place } = await serve(t, answer)
    const backends = createBackends()
    const backend = await backends.open(place, waiting)
    await backends.keep(place, backend, mark)
    const next = await backends.open(place, waiting)
    assert.equal(next === backend, isKept)
    assert.equal(backend.socket.writableEnded, !isKept)
    for (const { socket } of [backend, next]) socket.destroy()
  }
})

test('a backend that began a minute ago is not kept: settings of its role may have changed since', async (t) => {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs }
  const { place } = await serve(t)
  const backends = createBackends(clock)
  const backend = await backends.open(place, waiting)
  clock.nowMs = KEPT_MS - 1000
  await backends.keep(place, backend, mark)
  assert.equal(await backends.open(place, waiting), backend)
  clock.nowMs = KEPT_MS
  await backends.keep(place, backend, mark)
  const next = await backends.open(place, waiting)
  assert.notEqual(next, backend)
  assert.ok(backend.socket.writableEnded)
  for (const { socket } of [backend, next]) socket.destroy()
})
