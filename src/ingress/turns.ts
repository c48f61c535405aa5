// The requests of a resource that run at once are limited; further ones wait for their turn, and too many are refused.
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { FUNCTION_WAITING_MAX } from '#contract/function-limits.ts'
import { kindRules } from './kinds.ts'
import type { IngressRoute } from './routes.ts'
import { timeLimit } from './time-limit.ts'

const WAIT_MAX_MS = 60_000

type Line = { running: number; readonly waiting: (() => void)[] }

export interface RequestTurns {
  /** Resolves with the end of the turn. Throws that it is busy, also after too long a wait. Rejects with the signal's reason. */
  take(
    route: Pick<IngressRoute, 'id' | 'kind' | 'concurrency'>,
    signal: AbortSignal,
  ): Promise<() => void>
}

export function createTurns(waitMs = WAIT_MAX_MS): RequestTurns {
  const lines = new Map<string, Line>()
  const end = (id: string, line: Line) => {
    const next = line.waiting.shift()
    if (next !== undefined) return next()
    line.running--
    if (line.running === 0) lines.delete(id)
  }
  return {
    async take({ id, kind, concurrency }, signal) {
      const most = concurrency ?? kindRules(kind).concurrency
      const line = lines.get(id) ?? { running: 0, waiting: [] }
      lines.set(id, line)
      if (line.running < most) line.running++
      else if (line.waiting.length < FUNCTION_WAITING_MAX) {
        using limit = timeLimit({ ms: waitMs, signal }, () => busy(kind, 'no turn in time'))
        await turnOf(line, limit.signal)
      } else throw busy(kind, `${most} requests run and ${FUNCTION_WAITING_MAX} wait`)
      let isEnded = false
      return () => {
        if (isEnded) return
        isEnded = true
        end(id, line)
      }
    },
  }
}

const busy = (kind: IngressRoute['kind'], why: string): ErgonError =>
  fault(kindRules(kind).refusals.busy, `Could not run the ${kind}: ${why}`, { retryAfterS: 1 })

/** Takes over the turn of a request that ends. */
const turnOf = (line: Line, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const begin = () => {
      signal.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      line.waiting.splice(line.waiting.indexOf(begin), 1)
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    line.waiting.push(begin)
  })
