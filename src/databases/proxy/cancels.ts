// Cancel requests. A client sends the key of its session on a connection of its own, which may reach another proxy: the
// first byte of a key is the number of the proxy that has the session.
import { randomBytes } from 'node:crypto'
import type { Logger } from '#base/log.ts'
import { ask } from '#node/cell-specs.ts'
import type { Pages } from '#node/inside.ts'

export interface Cancels {
  /** A new key for a session. */
  issue(cancel: () => void): Buffer
  /** The key cancels nothing from now on. */
  revoke(key: Buffer): void
  /** Cancels the query of the session that has the key, in whichever proxy. */
  request(key: Buffer): void
  /** The other proxies forward requests to them. */
  readonly pages: Pages
  /** The number of sessions. */
  readonly count: number
}

const KEY_BYTES = 8
const PAGE = '/cancel'
const ASK_MS_MAX = 2000
/** Requests to other proxies at once; anybody may send one, and those beyond are dropped. */
export const FORWARDS_MAX = 100

/** `proxies` are the sockets of all proxies, `number` is the place of this one, from 1. */
export function createCancels(deps: {
  readonly number: number
  readonly proxies: readonly string[]
  readonly log: Logger
}): Cancels {
  const { number, proxies, log } = deps
  /** Cancels the query of a session, by the session's key in hexadecimal digits. */
  const sessions = new Map<string, () => void>()

  let forwards = 0

  const forward = async (socket: string, key: string): Promise<void> => {
    if (forwards >= FORWARDS_MAX) return
    forwards++
    try {
      await ask(socket, `${PAGE}?key=${key}`, AbortSignal.timeout(ASK_MS_MAX))
    } catch (error) {
      log.debug('Another proxy did not get a cancel request', { error: String(error) })
    } finally {
      forwards--
    }
  }
  return {
    issue(cancel) {
      const key = randomBytes(KEY_BYTES)
      key[0] = number
      sessions.set(key.toString('hex'), cancel)
      return key
    },
    revoke: (key) => void sessions.delete(key.toString('hex')),
    request(key) {
      const name = key.toString('hex')
      const socket = proxies[(key[0] ?? 0) - 1]
      if (key[0] === number) sessions.get(name)?.()
      else if (socket !== undefined) void forward(socket, name)
    },
    pages: { [PAGE]: (query) => sessions.get(query.get('key') ?? '')?.() },
    get count() {
      return sessions.size
    },
  }
}
