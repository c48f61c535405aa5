// Which servers nobody answers at: each is asked once when it is new, and again while it is absent or its
// breaker is not closed. So the model list says it before a caller finds out, and that it is back after.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { askModels, type Server } from './ask-models.ts'
import type { Providers } from './provider.ts'

const ASK_MS = 5_000

export interface AbsentServers {
  has(provider: string): boolean
  /** The servers of now, by provider; new ones are asked. */
  replace(servers: ReadonlyMap<string, Server>): void
  /** Resolves when each server was asked that there was at this call. */
  asked(): Promise<void>
  close(): Promise<void>
}

export function watchServers(deps: {
  readonly providers: Providers
  readonly log: Logger
  readonly askMs?: number
}): AbsentServers {
  let servers: ReadonlyMap<string, Server> = new Map()
  const absent = new Set<string>()
  const asking = new Map<string, Promise<void>>()
  const closing = new AbortController()

  async function look(name: string, server: Server): Promise<void> {
    const answer = await askModels(server, closing.signal)
    if (servers.get(name) !== server) return
    const isNews = absent.has(name) === answer.reached
    if (answer.reached) absent.delete(name)
    else absent.add(name)
    if (!isNews) return
    if (answer.reached) deps.log.warn('A server answers again', { provider: name })
    else deps.log.warn('A server does not answer', { provider: name, error: answer.why })
  }
  const ask = (name: string, server: Server) => {
    if (asking.has(name)) return
    const asked = look(name, server)
      .catch((error: unknown) =>
        deps.log.debug('A server was not asked', { provider: name, error: messageOf(error) }),
      )
      .finally(() => asking.delete(name))
    asking.set(name, asked)
  }
  const timer = setInterval(() => {
    for (const [name, server] of servers)
      if (absent.has(name) || deps.providers.get(name)?.breaker?.state !== 'closed')
        ask(name, server)
  }, deps.askMs ?? ASK_MS)

  return {
    has: (name) => absent.has(name),
    replace(next) {
      const before = servers
      servers = next
      for (const name of absent) if (next.get(name) !== before.get(name)) absent.delete(name)
      for (const [name, server] of next) if (before.get(name) !== server) ask(name, server)
    },
    asked: async () => void (await Promise.all(asking.values())),
    async close() {
      clearInterval(timer)
      closing.abort()
      await Promise.all(asking.values())
    },
  }
}
