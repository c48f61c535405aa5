// The databases that proxies and backups use, each with the answers that stay open for that long.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FatalError } from '#wire/messages.ts'
import type { AwakeLine, ProxyLine } from './awake.ts'
import { lineOf, onLines } from '#node/agent-socket/json-lines.ts'
import { createSessionShares, type Holder, type SessionShares } from './session-shares.ts'

export interface UsedDatabases {
  /** Keeps the answer to a proxy until its end, and gives the proxy a share of the sessions. */
  join(id: string, request: IncomingMessage, response: ServerResponse): void
  /** Keeps an answer until its end: backups have no sessions. */
  hold(id: string, response: ServerResponse): void
  tell(id: string, line: AwakeLine): void
  /**
   * Ends the sessions of a database with words: those of these backends, or all. Where all end, resolves when each proxy
   * has sent the words, or two seconds later: a server that stops before has words of its own, which say less.
   */
  cut(id: string, fatal: FatalError, pids?: readonly number[]): Promise<void>
  cutAll(fatal: FatalError): Promise<void>
}

/** A proxy that does not read its socket is not waited for. */
const WORDS_MAX_MS = 2000

type UsedEntry = { readonly responses: Set<ServerResponse>; readonly shares: SessionShares }

/** `proxies` is their number. */
export function createUsedDatabases(proxies: number): UsedDatabases {
  const all = new Map<string, UsedEntry>()
  const keep = (id: string, response: ServerResponse): UsedEntry => {
    const used = all.get(id) ?? { responses: new Set(), shares: createSessionShares(proxies) }
    all.set(id, used)
    used.responses.add(response)
    response.once('close', () => {
      used.responses.delete(response)
      if (used.responses.size === 0) all.delete(id)
    })
    return used
  }
  const cut: UsedDatabases['cut'] = async (id, fatal, pids) => {
    const responses = [...(all.get(id)?.responses ?? [])]
    for (const response of responses) say(response, pids ? { fatal, pids } : { fatal })
    // A proxy ends its request once its sessions have the words.
    if (pids === undefined) await Promise.all(responses.map(untilClosed))
  }
  return {
    cut,
    join(id, request, response) {
      const { shares } = keep(id, response)
      const holder: Holder = {
        tell: (sessions) => say(response, { sessions }),
        recall: () => say(response, { recall: true }),
      }
      response.once('close', () => shares.leave(holder))
      shares.join(holder)
      onLines(request, (value) => {
        const line = value as ProxyLine
        if ('more' in line) void shares.more(holder)
        else shares.giveBack(holder, line.unused)
      })
    },
    hold: (id, response) => void keep(id, response),
    tell: (id, line) => all.get(id)?.responses.forEach((response) => say(response, line)),
    cutAll: async (fatal) => void (await Promise.all([...all.keys()].map((id) => cut(id, fatal)))),
  }
}

function untilClosed(response: ServerResponse): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  if (response.closed) resolve()
  const late = setTimeout(() => response.destroy(), WORDS_MAX_MS).unref()
  response.once('close', () => {
    clearTimeout(late)
    resolve()
  })
  return closed
}

/** Nothing on an answer that has ended: the error of a write after it would be heard by nobody. */
export const say = (response: ServerResponse, line: AwakeLine) =>
  void (response.writableEnded || response.write(lineOf(line)))

/** The last line of an answer. */
export const endWith = (response: ServerResponse, fatal: FatalError) =>
  void (response.writableEnded || response.end(lineOf({ fatal } satisfies AwakeLine)))
