// A claimed key as `once()` takes it, and the refusals of a key that cannot be claimed.
import { fault } from '#contract/errors.ts'
import { beginKey, type KeyClaim } from './idempotency-store.ts'
import type { BegunKey } from './reply.ts'

const RETRY_S = 1

/** The begin of a request with a claimed key; `before` is the result of an earlier request. */
export const begunOf = (claim: KeyClaim, before: unknown): BegunKey => ({
  before,
  async keep(transaction, made) {
    // This request was taken for dead, and a repetition has its key: one of them may begin.
    if (!(await beginKey(transaction, claim, made))) throw keyIsRunning()
  },
})

export const keyIsRunning = (): Error =>
  fault('idempotency_in_progress', 'Could not begin: a request with this key is running', {
    retryAfterS: RETRY_S,
  })

export const keyIsReused = (): Error =>
  fault(
    'idempotency_key_reused',
    'Could not use the Idempotency-Key: it was used with another body',
  )
