// The units of a deletion for its bill: PostgreSQL removes a row for each key, and for each blob of an object in parts.
import type { Deleted } from '#objects/objects.ts'

/** One for each key that was not refused, or one for each blob of its object. */
export const removedUnits = (answers: readonly Deleted[]): number =>
  answers.reduce((sum, answer) => sum + ('code' in answer ? 0 : Math.max(1, answer.blobs)), 0)
