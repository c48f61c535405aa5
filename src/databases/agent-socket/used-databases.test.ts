import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { askAgent } from '#node/agent-socket/ask-agent.ts'
import { serveAgent, type OpenRequest } from '#node/agent-socket/serve-agent.ts'
import { createUsedDatabases } from './used-databases.ts'

const FATAL = { code: '57P01', message: 'ended', hint: 'again' }
/** Longer than the way of a line over a socket. */
const REST_MS = 100

/** Both ends of a request that a proxy keeps open, and the first line that the proxy gets. */
async function openRequest(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-used-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const agent = { socketPath: join(folder, 'agent'), secret: 'secret' }
  const arrived = Promise.withResolvers<OpenRequest>()
  const server = await serveAgent(agent, arrived.resolve)
  t.after(() => server.close())
  const line = Promise.withResolvers<unknown>()
  const asked = askAgent(agent, { path: '/db_1', firstLineMs: 10_000, take: line.resolve })
  return { request: await arrived.promise, asked, line: line.promise }
}

test('a database that is cut twice in one turn is no error', async (t) => {
  const databases = createUsedDatabases(1)
  const { request, asked, line } = await openRequest(t)
  databases.hold('db_1', request)
  void line.then(() => asked.end())
  const cuts = [databases.cut('db_1', FATAL), databases.cut('db_1', FATAL)]
  await databases.cut('db_1', FATAL, [1])
  await Promise.all(cuts)
  await databases.cut('db_1', FATAL)
})

test('the end of all sessions waits until the proxy has sent the words', async (t) => {
  const databases = createUsedDatabases(1)
  const { request, asked, line } = await openRequest(t)
  databases.hold('db_1', request)
  let isTold = false
  const telling = databases.cut('db_1', FATAL).then(() => (isTold = true))
  assert.deepEqual(await line, { fatal: FATAL })
  await pause(REST_MS)
  assert.equal(isTold, false, 'before the proxy ends its request')
  asked.end()
  await telling
})

test('the end of all sessions does not wait for a proxy that is silent', async (t) => {
  const databases = createUsedDatabases(1)
  const { request, asked } = await openRequest(t)
  databases.hold('db_1', request)
  await databases.cut('db_1', FATAL)
  assert.match((await asked.ended).message, /the agent has ended the request/)
})
