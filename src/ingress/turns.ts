// The requests of a resource that run at once are limited; further ones wait for their turn, and too many are refused.
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { FUNCTION_WAITING_MAX } from '#contract/functions/function-limits.ts'
import { rulesOfKind } from './kinds.ts'
import type { RequestEnding } from './request-ending.ts'
import type { IngressRoute } from './routes.ts'

const WAIT_MAX_MS = 60_000
/** Requests of an account that run or wait: a quarter of all connections. */
export const ROUTED_REQUESTS_MAX = 500

type Line = { running: number; most: number; readonly waiting: (() => void)[] }

export interface RequestTurns {
  /** Resolves with the end of the turn. Throws that it is busy, also after too long a wait. Rejects with the signal's reason. */
  take(
    route: Pick<IngressRoute, 'id' | 'account' | 'kind' | 'concurrency' | 'scale'>,
    ending: Pick<RequestEnding, 'signal'>,
  ): Promise<() => void>
}

export function createTurns(waitMs = WAIT_MAX_MS): RequestTurns {
  const lines = new Map<string, Line>()
  /** Requests of accounts that run or wait. */
  const ofAccounts = new Map<string, number>()
  const count = (account: string, more: number) => {
    const now = (ofAccounts.get(account) ?? 0) + more
    if (now > 0) ofAccounts.set(account, now)
    else ofAccounts.delete(account)
  }
  const end = (id: string, line: Line) => {
    // Not where fewer may run since.
    const next = line.running <= line.most ? line.waiting.shift() : undefined
    if (next !== undefined) return next()
    line.running--
    if (line.running === 0) lines.delete(id)
  }
  return {
    async take({ id, account, kind, concurrency, scale }, ending) {
      if ((ofAccounts.get(account) ?? 0) >= ROUTED_REQUESTS_MAX)
        throw busy(kind, `its account has ${ROUTED_REQUESTS_MAX} requests here`)
      const most = concurrency ?? rulesOfKind(kind).concurrency * (scale?.max ?? 1)
      const line = lines.get(id) ?? { running: 0, most, waiting: [] }
      line.most = most
      lines.set(id, line)
      if (line.running >= most && line.waiting.length >= FUNCTION_WAITING_MAX)
        throw busy(kind, `${most} requests run and ${FUNCTION_WAITING_MAX} wait`)
      count(account, 1)
      try {
        if (line.running < most) line.running++
        else
          await turnOf(line, {
            waitMs,
            signal: ending.signal,
            late: () => busy(kind, 'no turn in time'),
          })
      } catch (error) {
        count(account, -1)
        throw error
      }
      let isEnded = false
      return () => {
        if (isEnded) return
        isEnded = true
        count(account, -1)
        end(id, line)
      }
    },
  }
}

const busy = (kind: IngressRoute['kind'], why: string): ErgonError =>
  fault(rulesOfKind(kind).refusals.busy, `Could not run the ${kind}: ${why}`, { retryAfterS: 1 })

/** Takes over the turn of a request that ends. */
const turnOf = (
  line: Line,
  {
    waitMs,
    signal,
    late,
  }: { readonly waitMs: number; readonly signal: AbortSignal; late(): ErgonError },
): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', gone)
    }
    const begin = () => {
      end()
      resolve()
    }
    const leave = (why: unknown) => {
      end()
      line.waiting.splice(line.waiting.indexOf(begin), 1)
      reject(why)
    }
    const gone = () => leave(signal.reason)
    const timer = setTimeout(() => leave(late()), waitMs)
    signal.addEventListener('abort', gone, { once: true })
    line.waiting.push(begin)
  })
