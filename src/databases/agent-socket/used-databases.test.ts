import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createUsedDatabases } from './used-databases.ts'

const FATAL = { code: '57P01', message: 'ended' }
/** Longer than the way of a line over loopback. */
const REST_MS = 100

/** Both ends of an answer that a proxy keeps open. */
async function openAnswer(t: TestContext) {
  const arrived = Promise.withResolvers<ServerResponse>()
  const server = createServer((_, response) => arrived.resolve(response)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  request.on('error', () => undefined)
  const response = await arrived.promise
  response.flushHeaders()
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  answer.on('error', () => undefined)
  return { response, request, answer }
}

test('a database that is cut twice in one turn is no error', async (t) => {
  const databases = createUsedDatabases(1)
  const { response, request, answer } = await openAnswer(t)
  const errors: unknown[] = []
  response.on('error', (error) => errors.push(error))
  databases.hold('db_1', response)
  answer.once('data', () => request.destroy())
  const cuts = [databases.cut('db_1', FATAL), databases.cut('db_1', FATAL)]
  await databases.cut('db_1', FATAL, [1])
  await Promise.all(cuts)
  await databases.cut('db_1', FATAL)
  assert.deepEqual(errors, [])
})

test('the end of all sessions waits until the proxy has sent the words', async (t) => {
  const databases = createUsedDatabases(1)
  const { response, request, answer } = await openAnswer(t)
  databases.hold('db_1', response)
  let isTold = false
  const telling = databases.cut('db_1', FATAL).then(() => (isTold = true))
  const [line] = (await once(answer, 'data')) as [Buffer]
  assert.deepEqual(JSON.parse(line.toString()), { fatal: FATAL })
  await pause(REST_MS)
  assert.equal(isTold, false, 'before the proxy ends its request')
  request.destroy()
  await telling
})

test('the end of all sessions does not wait for a proxy that is silent', async (t) => {
  const databases = createUsedDatabases(1)
  const { response } = await openAnswer(t)
  databases.hold('db_1', response)
  await databases.cut('db_1', FATAL)
  assert.ok(response.closed)
})
