// Which servers cannot serve as things are: nobody is there, or the key is refused. Each is asked when it is
// new, and again while it cannot serve or its breaker is not closed. So the model list says it before a caller
// finds out, and that it serves again after.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { askModels } from './ask-models.ts'
import type { UpstreamServer } from './ask-server.ts'
import { askToken, isRedirect } from './ask-token.ts'
import type { Providers } from './provider.ts'

const ASK_MS = 5_000

/** Why a server cannot serve; what has no path or no such model is unreachable too. */
export type ServerFault = 'unreachable' | 'unauthorized'

export interface ServerStates {
  /** Undefined for a server that may be asked. */
  faultOf(provider: string): ServerFault | undefined
  /** The servers of now, by provider; new ones are asked. */
  replace(servers: ReadonlyMap<string, UpstreamServer>): void
  /** Resolves when each server was asked that there was at this call. */
  asked(): Promise<void>
  close(): Promise<void>
}

export function watchServers(deps: {
  readonly providers: Providers
  readonly log: Logger
  readonly askMs?: number
}): ServerStates {
  let servers: ReadonlyMap<string, UpstreamServer> = new Map()
  const faults = new Map<string, ServerFault>()
  const asking = new Map<string, Promise<void>>()
  const closing = new AbortController()

  async function judge(name: string, server: UpstreamServer): Promise<void> {
    const found = await faultOf(server, closing.signal)
    if (servers.get(name) !== server || faults.get(name) === found?.fault) return
    if (found === undefined) {
      faults.delete(name)
      deps.log.warn('A server answers again', { provider: name })
    } else {
      faults.set(name, found.fault)
      deps.log.warn(WORDS[found.fault], { provider: name, error: found.why })
    }
  }
  /** Asks the server of that name; then the one that has taken its place meanwhile. */
  async function look(name: string): Promise<void> {
    let asked: UpstreamServer | undefined
    for (;;) {
      const server = servers.get(name)
      if (server === undefined || server === asked || closing.signal.aborted) return
      asked = server
      await judge(name, server).catch((error: unknown) =>
        deps.log.debug('A server was not asked', { provider: name, error: messageOf(error) }),
      )
    }
  }
  const ask = (name: string) => {
    if (asking.has(name)) return
    asking.set(
      name,
      look(name).finally(() => asking.delete(name)),
    )
  }
  const timer = setInterval(() => {
    for (const name of servers.keys())
      if (faults.has(name) || deps.providers.get(name)?.breaker?.state !== 'closed') ask(name)
  }, deps.askMs ?? ASK_MS)

  return {
    faultOf: (name) => faults.get(name),
    replace(next) {
      const before = servers
      servers = next
      for (const name of faults.keys()) if (next.get(name) !== before.get(name)) faults.delete(name)
      for (const [name, server] of next) if (before.get(name) !== server) ask(name)
    },
    asked: async () => void (await Promise.all(asking.values())),
    async close() {
      clearInterval(timer)
      closing.abort()
      await Promise.all(asking.values())
    },
  }
}

const WORDS: Readonly<Record<ServerFault, string>> = {
  unreachable: 'A server does not answer',
  unauthorized: 'A server refuses its key',
}

type ServerFinding = { readonly fault: ServerFault; readonly why: string }

/** The list of models settles it where there is one; else the server is asked for a token. */
async function faultOf(
  server: UpstreamServer,
  signal: AbortSignal,
): Promise<ServerFinding | undefined> {
  const models = await askModels(server, signal)
  if (!models.reached) return { fault: 'unreachable', why: models.why }
  const { status, ids } = models
  if (ids !== undefined || !isUnsettled(status)) return undefined
  const token = await askToken(server, signal)
  switch (token.kind) {
    case 'served':
    case 'refused':
      return undefined
    case 'unreached':
      return { fault: 'unreachable', why: token.why }
    case 'unauthorized':
      return { fault: 'unauthorized', why: `it answered ${token.status}` }
    case 'no_api':
      return { fault: 'unreachable', why: `it has no such path: it answered ${token.status}` }
    case 'no_model':
      return { fault: 'unreachable', why: token.message }
  }
}

/** Keys may list no models and serve all the same, and servers may have no list. */
const isUnsettled = (status = 0) => isRedirect(status) || [200, 401, 403, 404, 405].includes(status)
