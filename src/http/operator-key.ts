// The key of an operation of the operator. The work of such an operation is one transaction, which notes its result for
// the key: no answer is kept, as the result has all of it.
import { createHash } from 'node:crypto'
import { invariant } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { ControlName } from '#contract/control.ts'
import type { Queryable } from '#state/connect.ts'
import { begunOf, keyIsReused, keyIsRunning } from './begun-key.ts'
import { claimKey } from './idempotency-store.ts'
import type { BegunKey } from './reply.ts'

type Keyed = { readonly idempotency_key?: string | undefined }

/**
 * The key of a request, for `once()`; undefined without one. A key is of one operation, and forgotten after a day.
 * Throws idempotency_key_reused, idempotency_in_progress.
 */
export async function operatorKey(
  state: Queryable,
  operation: ControlName,
  { idempotency_key: key, ...asked }: Keyed,
): Promise<{ readonly begun: BegunKey | undefined }> {
  if (key === undefined) return { begun: undefined }
  const claim = {
    token: 'operator',
    path: `/${operation}`,
    key,
    fingerprint: createHash('sha256').update(JSON.stringify(asked)).digest(),
    // Nobody waits for the request before: of two at once, the later one has the key.
    session: null,
    request: newId('req'),
  }
  const claimed = await claimKey(state, claim)
  if (claimed.kind === 'running') throw keyIsRunning()
  if (claimed.kind === 'reused') throw keyIsReused()
  invariant(claimed.kind === 'mine', 'no answer is kept for a key of the operator')
  return { begun: begunOf(claim, claimed.begun) }
}
