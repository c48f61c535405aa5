// A circuit breaker per upstream: after several failures in a row it is left alone for a while, then
// one request tries it. So a dead upstream costs its callers nothing and is not beaten while down.
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { ERRORS } from '#contract/errors.ts'

export type BreakerPolicy = {
  readonly failuresMax: number
  /** First pause; each failed trial doubles it, up to pauseMsMax. */
  readonly pauseMs: number
  readonly pauseMsMax: number
}
export const BREAKER_POLICY: BreakerPolicy = {
  failuresMax: 5,
  pauseMs: 5_000,
  pauseMsMax: 120_000,
}

/** To be told once how the request went; later calls are ignored. */
export type Pass = {
  succeeded(): void
  failed(): void
  /** It says nothing of the upstream: the caller left, or the request was at fault. */
  dropped(): void
}

export type Breaker = {
  readonly state: 'closed' | 'open' | 'trying'
  /** Throws `overloaded` with Retry-After while the upstream is left alone. */
  enter(): Pass
}

/** `overloaded`: the upstream is left alone for so long. */
export class RestingError extends ErgonError {
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000))
    super({ code: 'overloaded', status: ERRORS.overloaded.status }, message, { retryAfterS })
    this.waitMs = waitMs
  }
}

export function createBreaker(
  name: string,
  clock: Pick<Clock, 'monotonicMs'>,
  policy: BreakerPolicy = BREAKER_POLICY,
): Breaker {
  let failures = 0
  let pauseMs = policy.pauseMs
  let openUntilMs: number | undefined
  let trying = false

  const refuse = (waitMs: number) =>
    new RestingError(`Could not ask ${name}: it failed ${failures} times in a row`, waitMs)

  const close = () => {
    failures = 0
    pauseMs = policy.pauseMs
    openUntilMs = undefined
  }

  const fail = (wasTrial: boolean) => {
    failures++
    // Requests sent before it opened may fail after: they must not lengthen the pause.
    if (wasTrial) pauseMs = Math.min(pauseMs * 2, policy.pauseMsMax)
    else if (openUntilMs !== undefined || failures < policy.failuresMax) return
    openUntilMs = clock.monotonicMs() + pauseMs
  }

  return {
    get state() {
      if (openUntilMs === undefined) return 'closed'
      return trying ? 'trying' : 'open'
    },
    enter() {
      const isTrial = openUntilMs !== undefined
      if (openUntilMs !== undefined) {
        const waitMs = openUntilMs - clock.monotonicMs()
        if (waitMs > 0 || trying) throw refuse(waitMs)
        trying = true
      }
      let told = false
      const tell = (then: () => void) => () => {
        if (told) return
        told = true
        if (isTrial) trying = false
        then()
      }
      return {
        succeeded: tell(() => {
          if (isTrial || openUntilMs === undefined) close()
        }),
        failed: tell(() => fail(isTrial)),
        dropped: tell(() => {}),
      }
    },
  }
}
