// A circuit breaker per upstream: after several failures in a row it is left alone for a while, then
// one request tries it. So a dead upstream costs its callers nothing and is not beaten while down.
import type { Clock } from '#base/clock.ts'
import { fault } from '#contract/errors.ts'

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
  /** The upstream is left alone now: enter() would throw. */
  readonly rests: boolean
  /** Throws `overloaded` with Retry-After while the upstream is left alone. */
  enter(): Pass
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

  const waitMs = () => (openUntilMs === undefined ? 0 : openUntilMs - clock.monotonicMs())
  const refuse = () =>
    fault('overloaded', `Could not ask ${name}: it failed ${failures} times in a row`, {
      retryAfterS: Math.max(1, Math.ceil(waitMs() / 1000)),
    })

  const close = () => {
    failures = 0
    pauseMs = policy.pauseMs
    openUntilMs = undefined
  }

  const fail = (wasTrial: boolean) => {
    failures++
    // A request that was sent before the breaker opened may fail later. Such a failure must not lengthen the pause.
    if (wasTrial) pauseMs = Math.min(pauseMs * 2, policy.pauseMsMax)
    else if (openUntilMs !== undefined || failures < policy.failuresMax) return
    openUntilMs = clock.monotonicMs() + pauseMs
  }

  return {
    get state() {
      if (openUntilMs === undefined) return 'closed'
      return trying ? 'trying' : 'open'
    },
    get rests() {
      return trying || waitMs() > 0
    },
    enter() {
      const isTrial = openUntilMs !== undefined
      if (trying || waitMs() > 0) throw refuse()
      trying = isTrial
      let isReported = false
      const tell = (then: () => void) => () => {
        if (isReported) return
        isReported = true
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
