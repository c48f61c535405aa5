// The databases that proxies and backups use, each with the requests that are open for that long.
import type { FatalError } from '#wire/messages.ts'
import type { AwakeLine, ProxyLine } from './awake.ts'
import type { OpenRequest } from '#node/agent-socket/serve-agent.ts'
import { createSessionShares, type Holder, type SessionShares } from './session-shares.ts'

export interface UsedDatabases {
  /** Keeps the request of a proxy until its end, and gives the proxy a share of the sessions. */
  join(id: string, request: AwakeRequest): void
  /** Keeps a request until its end: backups have no sessions. */
  hold(id: string, request: AwakeRequest): void
  tell(id: string, line: AwakeLine): void
  /** Tells the logins that may have sessions from now on. */
  keep(id: string, logins: readonly string[]): void
  /** The logins that `read` finds, or those of a keep() meanwhile, which are newer. */
  newestLogins(id: string, read: () => Promise<readonly string[]>): Promise<readonly string[]>
  /**
   * Ends the sessions of a database with words: those of these backends, or all. Where all end, resolves when each proxy
   * has sent the words, or two seconds later: a server that stops before has words of its own, which say less.
   */
  cut(id: string, fatal: FatalError, pids?: readonly number[]): Promise<void>
  cutAll(fatal: FatalError): Promise<void>
}

/** A request of a proxy or a backup. */
type AwakeRequest = OpenRequest<AwakeLine>

/** A proxy that does not read its socket is not waited for. */
const WORDS_MAX_MS = 2000

type UsedEntry = {
  readonly requests: Set<AwakeRequest>
  readonly shares: SessionShares
  /** The logins of the last keep(). */
  logins?: readonly string[]
}

/** `proxies` is their number. */
export function createUsedDatabases(proxies: number): UsedDatabases {
  const all = new Map<string, UsedEntry>()
  const keep = (id: string, request: AwakeRequest): UsedEntry => {
    const used = all.get(id) ?? { requests: new Set(), shares: createSessionShares(proxies) }
    all.set(id, used)
    used.requests.add(request)
    request.whenEnded(() => {
      used.requests.delete(request)
      if (used.requests.size === 0) all.delete(id)
    })
    return used
  }
  const cut: UsedDatabases['cut'] = async (id, fatal, pids) => {
    const requests = [...(all.get(id)?.requests ?? [])]
    for (const request of requests) request.say(pids ? { fatal, pids } : { fatal })
    // A proxy ends its request once its sessions have the words.
    if (pids === undefined) await Promise.all(requests.map(untilEnded))
  }
  const tell: UsedDatabases['tell'] = (id, line) =>
    all.get(id)?.requests.forEach((request) => request.say(line))
  return {
    cut,
    join(id, request) {
      const { shares } = keep(id, request)
      const holder: Holder = {
        tell: (sessions) => request.say({ sessions }),
        recall: () => request.say({ recall: true }),
      }
      request.whenEnded(() => shares.leave(holder))
      request.onLine = (value) => {
        const line = value as ProxyLine
        if ('more' in line) void shares.more(holder)
        else shares.giveBack(holder, line.unused)
      }
      shares.join(holder)
    },
    hold: (id, request) => void keep(id, request),
    tell,
    keep(id, logins) {
      const used = all.get(id)
      if (used !== undefined) used.logins = logins
      tell(id, { logins })
    },
    async newestLogins(id, read) {
      const before = all.get(id)?.logins
      const found = await read()
      const newest = all.get(id)?.logins
      return newest === undefined || newest === before ? found : newest
    },
    cutAll: async (fatal) => void (await Promise.all([...all.keys()].map((id) => cut(id, fatal)))),
  }
}

function untilEnded(request: AwakeRequest): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const late = setTimeout(() => request.destroy(), WORDS_MAX_MS).unref()
  request.whenEnded(() => {
    clearTimeout(late)
    resolve()
  })
  return ended
}
