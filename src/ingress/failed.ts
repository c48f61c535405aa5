// Answers of code that are not passed on. Code may send anything: that is no fault of ours.
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { rulesOfKind, type RoutedKind } from './kinds.ts'

const STATUS_MIN = 200
const STATUS_MAX = 599

/** A status that an answer may have, and that Node writes. */
export const isAnswerStatus = (status: number): boolean =>
  status >= STATUS_MIN && status <= STATUS_MAX

/** `why` follows on the name of the kind. */
export const failedFault = (kind: RoutedKind, why = 'failed'): ErgonError =>
  fault(rulesOfKind(kind).refusals.failed, `Could not answer: the ${kind} ${why}`)
