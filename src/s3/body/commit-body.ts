// Between a body that is durable and the row that names it: what can no longer be committed becomes garbage
// with the hour of everything that is deleted, and is none of the sweeper's orphans. The list of garbage
// never takes what a row names.
import { ErgonError } from '#base/errors.ts'
import { isStorageCode } from '#contract/storage-errors.ts'
import type { Objects } from '#objects/objects.ts'
import type { Body } from '#objects/types.ts'

/** Where none was received. */
export const NO_BODY: Body = { kind: 'parts', parts: [] }

type Discarding = Pick<Objects, 'discard'>

/**
 * Does what commits a body that was received, and throws what that throws. Where it is refused the body is
 * discarded; where the answer of the state was lost it stays, as a row may name it.
 */
export const commitBody = <T>(objects: Discarding, body: Body, commit: () => Promise<T>) =>
  commit().catch((error: unknown) => fail(objects, isRefusal(error) ? body : NO_BODY, error))

/** Does what comes before the commit of a body; whatever fails there, the body is discarded. */
export const beforeCommit = <T>(objects: Discarding, body: Body, work: () => Promise<T>) =>
  work().catch((error: unknown) => fail(objects, body, error))

/** An S3 error is the state's own answer: its transaction has ended and changed nothing. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ErgonError && isStorageCode(error.code)

async function fail(objects: Discarding, body: Body, error: unknown): Promise<never> {
  const blobs = body.kind === 'parts' ? body.parts.map(({ blob }) => blob) : []
  // Where that fails too the sweeper finds it; the first error is the one to tell.
  await objects.discard(blobs).catch(() => undefined)
  throw error
}
