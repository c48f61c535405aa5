// What the operator's log hears of offers that fail: what the upstream did, and that once a second. What a
// caller did wrong, or too much at once, can be asked of us thousands of times a second, and is no news.
import type { Clock } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'

const SILENT_MS = 1000
const OFFERS_MAX = 1000

/** Told of each failure of an offer, by the offer's name. */
export type Failures = (model: string, error: unknown) => void

export function createFailures({ log, clock }: { log: Logger; clock: Clock }): Failures {
  // When each was last told of, and how many more there were since.
  const told = new Map<string, { atMs: number; more: number }>()
  return (model, error) => {
    const fields = { model, error: messageOf(error) }
    if (!isUpstreams(error)) return log.debug('An offer refused', fields)
    const last = told.get(model)
    const nowMs = clock.monotonicMs()
    if (last !== undefined && nowMs - last.atMs < SILENT_MS) return void last.more++
    if (told.size >= OFFERS_MAX) told.clear()
    told.set(model, { atMs: nowMs, more: 0 })
    log.warn('An offer failed', last === undefined ? fields : { ...fields, since_last: last.more })
  }
}

/** The upstream's fault, or our own. */
const isUpstreams = (error: unknown): boolean =>
  !(error instanceof ErgonError) ||
  error.code === 'upstream_failed' ||
  error.code === 'upstream_timeout'
