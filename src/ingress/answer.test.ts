// Requests that get no answer of a function, at a server of their own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { answerRequest, type IngressDeps } from './answer.ts'
import { openInstance } from './instance.fixture.ts'
import { openInstancePool } from './instance-pool.ts'
import { testRoute } from './route.fixture.ts'
import { createRoutedCounter } from './routed-counts.ts'
import { RouteTable } from './routes.ts'
import { createTurns } from './turns.ts'
import { NO_WORK, NOBODY } from './uncounted.fixture.ts'

test('a function that does not start in time is function_starting, and a failure of the service', async () => {
  const origin = 'http://localhost'
  const routes = new RouteTable({ host: 'functions.localhost', origin, named: origin })
  routes.put([testRoute()])
  const log = createLogger('test', { level: 'error' })
  const counter = createRoutedCounter()
  const never: IngressDeps['uses'] = { begin: () => new Promise(() => undefined) }
  const deps = {
    routes,
    uses: never,
    turns: createTurns(),
    nobody: NOBODY,
    ended: counter.ended,
    log,
    trusts: () => false,
    wakeMs: 20,
  }
  const server = createServer((request, response) => void answerRequest(request, response, deps))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/~acct_a/`)
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '2'])
    assert.match(await answer.text(), /function_starting/)
    assert.deepEqual(counter.read(), { requests: 1, failures: 1 })
    // Its image has not become ready.
    routes.put([testRoute({ kind: 'workload' })])
    const late = await fetch(`http://127.0.0.1:${port}/~acct_a/`)
    assert.match(await late.text(), /workload_starting/)
    assert.deepEqual(counter.read(), { requests: 2, failures: 1 })
  } finally {
    server.close()
  }
})

test('a function that waits for its turn has its time from its begin, and no longer', async (t) => {
  const waitsBefore = async (path: string, response: ServerResponse) => {
    for (let sign = 0; sign < Number(path.slice(1)); sign++) {
      await sleep(700)
      response.writeProcessing()
    }
    await sleep(700)
    response.end('ended')
  }
  const { deps } = await openInstance(
    t,
    (request, response) => void waitsBefore(request.url ?? '', response),
    { timeoutS: 1 },
  )
  const server = createServer((request, response) => void answerRequest(request, response, deps))
  await once(server.listen(0, 'localhost'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const statusOf = async (signs: number) =>
    (await fetch(`http://localhost:${port}/${signs}`)).status
  assert.deepEqual(await Promise.all([statusOf(2), statusOf(5)]), [200, 504])
})

test('an instance that nobody listens at is told so, and the next one answers', async (t) => {
  const { deps } = await openInstance(t, (_, response) => void response.end('answered'))
  const gone = openInstancePool('unix:/nowhere', NO_WORK)
  t.after(() => gone.destroy())
  let downCount = 0
  const uses: IngressDeps['uses'] = {
    async begin(route, ending) {
      const use = await deps.uses.begin(route, ending)
      return { ...use, pool: downCount === 0 ? gone : use.pool, down: () => void downCount++ }
    },
  }
  const server = createServer(
    (request, response) => void answerRequest(request, response, { ...deps, uses }),
  )
  await once(server.listen(0, 'localhost'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://localhost:${port}/`, { method: 'POST', body: 'x' })
  assert.deepEqual([answer.status, await answer.text(), downCount], [200, 'answered', 1])
})
