// The ingress in front of a server that plays a running instance, for tests.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { RequestListener, Server } from 'node:http'
import { createServer } from '#base/node-http.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createLogger } from '#base/log.ts'
import { createRequestLines } from '#http/request-lines.ts'
import { openInstancePool } from './instance-pool.ts'
import type { RequestEnding } from './request-ending.ts'
import { testRoute } from './route.fixture.ts'
import { RouteTable, type IngressRoute } from './routes.ts'
import type { IngressServerDeps } from './server.ts'
import { createTurns } from './turns.ts'
import { NO_WORK, NOBODY, UNCOUNTED } from './uncounted.fixture.ts'

export type TestInstance = {
  readonly server: Server
  readonly deps: Omit<IngressServerDeps, 'listen'>
  /** The requests that run. */
  readonly users: ReadonlySet<RequestEnding>
}

/** Listens on a socket, and answers all requests for localhost. */
export async function openInstance(
  t: TestContext,
  answer: RequestListener,
  more: Partial<IngressRoute> = {},
): Promise<TestInstance> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-instance-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const socketPath = join(folder, 'instance')
  const server = createServer(answer)
  await once(server.listen(socketPath), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const pool = openInstancePool(`unix:${socketPath}`, NO_WORK)
  t.after(() => pool.destroy())
  const users = new Set<RequestEnding>()
  const routes = new RouteTable(undefined)
  routes.put([testRoute({ host: 'localhost', timeoutS: 5, ...more })])
  const deps: TestInstance['deps'] = {
    routes,
    lines: createRequestLines(),
    turns: createTurns(),
    nobody: NOBODY,
    ended: UNCOUNTED,
    log: createLogger('test', { level: 'error' }),
    trusts: () => false,
    uses: {
      async begin(_route, ending) {
        users.add(ending)
        return {
          pool,
          loading: () => undefined,
          late() {},
          down() {},
          end: () => void users.delete(ending),
        }
      },
    },
  }
  return { server, deps, users }
}
