// The units of a deletion for its bill: PostgreSQL removes a row for each key, and for each blob of an object in parts. A key
// that is absent, repeated or refused is only looked up.
import type { Deleted } from '#objects/objects.ts'

/** One for each removed version or each blob of it, and one for each marker that was made. */
export const removedUnits = (answers: readonly Deleted[]): number =>
  answers.reduce((sum, answer) => sum + unitsOf(answer), 0)

const unitsOf = (answer: Deleted): number =>
  'code' in answer ? 0 : Math.max(answer.deleteMarker ? 1 : 0, answer.blobs)
