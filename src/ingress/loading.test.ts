// Requests that come while the code of an instance is being loaded.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '#base/log.ts'
import { createServer } from '#base/node-http.ts'
import { serveAgent, type OpenRequest } from '#node/agent-socket/serve-agent.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'
import { answerRequest } from './answer.ts'
import { testRoute } from './route.fixture.ts'
import { RouteTable } from './routes.ts'
import { createTurns } from './turns.ts'
import { NOBODY, UNCOUNTED } from './uncounted.fixture.ts'
import { createInstanceUses } from './uses.ts'

const TIMEOUT_S = 0.3
const LOAD_MS = 700
const REFUSED = { refused: 'function_failed', message: 'Could not run it: its code is broken' }

/** An ingress, and an instance whose code is loaded when the test says so. */
async function start(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-loading-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const instance = createServer(answer)
  await once(instance.listen(join(folder, 'instance')), 'listening')
  t.after(() => {
    instance.closeAllConnections()
    instance.close()
  })
  const agent = { socketPath: join(folder, 'agent'), secret: 'secret' }
  const opened = Promise.withResolvers<OpenRequest>()
  const server = await serveAgent(agent, (request) => {
    const address = `unix:${join(folder, 'instance')}`
    request.say({ address, cell: 'fn-a-1', isLoading: true })
    opened.resolve(request)
  })
  const uses = createInstanceUses({ agent, caused: createCausedByCells() }, { calmMs: 60_000 })
  t.after(async () => {
    uses.close()
    await server.close()
  })
  const routes = new RouteTable(undefined)
  routes.put([testRoute({ host: 'localhost', timeoutS: TIMEOUT_S })])
  const log = createLogger('test', { level: 'error' })
  const deps = {
    routes,
    uses,
    turns: createTurns(),
    nobody: NOBODY,
    ended: UNCOUNTED,
    log,
    trusts: () => false,
  }
  const front = createServer((request, response) => void answerRequest(request, response, deps))
  await once(front.listen(0, 'localhost'), 'listening')
  t.after(() => front.close())
  const { port } = front.address() as AddressInfo
  return {
    ask: async (body?: string) => {
      const options = body === undefined ? {} : { method: 'POST', body }
      const got = await fetch(`http://localhost:${port}/`, options)
      return [got.status, await got.text()] as const
    },
    say: async (line: object) => void (await opened.promise).say(line),
  }
}

test('a request is in its process while the code loads, and its time begins after that', async (t) => {
  const begun = Promise.withResolvers<ServerResponse>()
  const { ask, say } = await start(t, (_, response) => begun.resolve(response))
  const answered = ask()
  const response = await begun.promise
  await pause(LOAD_MS)
  await say({ loaded: true })
  await pause((TIMEOUT_S * 1000) / 2)
  response.end('hello')
  assert.deepEqual(await answered, [200, 'hello'])
  const [status] = await ask()
  assert.equal(status, 504, 'a later one has its time from its begin')
})

test('a request with a body waits until the code is loaded', async (t) => {
  let isLoaded = false
  const { ask, say } = await start(t, (_, response) => void response.end(String(isLoaded)))
  const answered = ask('x')
  await pause(100)
  isLoaded = true
  await say({ loaded: true })
  assert.deepEqual(await answered, [200, 'true'])
})

test('a process that ends before its code is loaded is asked again once that is there', async (t) => {
  let count = 0
  const { ask, say } = await start(t, ({ socket }, response) => {
    if (++count === 1) socket.destroy()
    else response.end('hello')
  })
  const answered = ask()
  await pause(100)
  assert.equal(count, 1)
  await say({ loaded: true })
  assert.deepEqual(await answered, [200, 'hello'])
})

test('a request gets the reason where the code cannot be loaded', async (t) => {
  const { ask, say } = await start(t, () => undefined)
  const answered = [ask(), ask('x')]
  await pause(100)
  await say(REFUSED)
  for (const [status, text] of await Promise.all(answered)) {
    assert.equal(status, 502)
    assert.match(text, /its code is broken/)
  }
})
