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
  /** Ends the sessions of a database with words: those of these backends, or all. */
  cut(id: string, fatal: FatalError, pids?: readonly number[]): void
  cutAll(fatal: FatalError): void
}

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
  const cut: UsedDatabases['cut'] = (id, fatal, pids) => {
    for (const response of all.get(id)?.responses ?? [])
      if (pids === undefined) endWith(response, fatal)
      else say(response, { fatal, pids })
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
    cutAll(fatal) {
      for (const id of all.keys()) cut(id, fatal)
    },
  }
}

/** Nothing on an answer that has ended: the error of a write after it would be heard by nobody. */
export const say = (response: ServerResponse, line: AwakeLine) =>
  void (response.writableEnded || response.write(lineOf(line)))

/** The last line of an answer. */
export const endWith = (response: ServerResponse, fatal: FatalError) =>
  void (response.writableEnded || response.end(lineOf({ fatal } satisfies AwakeLine)))
