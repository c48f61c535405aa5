// Between a durable body and the row that names it: a body that can no longer be committed becomes garbage at once,
// instead of an orphan for the sweeper. Removal of garbage spares blobs that a row names.
import { ErgonError } from '#base/errors.ts'
import { isStorageCode } from '#contract/storage/storage-errors.ts'
import type { Objects } from '#objects/objects.ts'
import type { ObjectBody } from '#objects/types.ts'

/** For a request without a received body. */
export const NO_BODY: ObjectBody = { kind: 'parts', parts: [] }

type Discarding = Pick<Objects, 'discard'>

/**
 * Commits a received body. A refused body is discarded. When the answer of the state was lost the body stays, as a
 * row may name it. Throws what `commit` throws.
 */
export const commitBody = <T>(objects: Discarding, body: ObjectBody, commit: () => Promise<T>) =>
  commit().catch((error: unknown) => fail(objects, isRefusal(error) ? body : NO_BODY, error))

/** Runs a step before the commit of a body. If the step fails, the body is discarded. */
export const beforeCommit = <T>(objects: Discarding, body: ObjectBody, work: () => Promise<T>) =>
  work().catch((error: unknown) => fail(objects, body, error))

/** An S3 error is an answer of the state: its transaction has ended and changed nothing. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ErgonError && isStorageCode(error.code)

async function fail(objects: Discarding, body: ObjectBody, error: unknown): Promise<never> {
  const blobs = body.kind === 'parts' ? body.parts.map(({ blob }) => blob) : []
  // If discarding fails too, the sweeper finds the body. The first error is thrown.
  await objects.discard(blobs).catch(() => undefined)
  throw error
}
