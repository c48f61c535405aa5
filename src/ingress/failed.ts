// Answers of code that are not passed on. Code may send anything: that is no fault of ours.
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { rulesOfKind, type RoutedKind } from './kinds.ts'
import { NotHttp } from '#http-client/heads.ts'
import { NotAnswered } from '#http-client/not-answered.ts'

const STATUS_MIN = 200
const STATUS_MAX = 599

/** A status that an answer may have, and that Node writes. */
export const isAnswerStatus = (status: number): boolean =>
  status >= STATUS_MIN && status <= STATUS_MAX

/** `why` follows on the name of the kind. */
export const failedFault = (kind: RoutedKind, why = 'failed'): ErgonError =>
  fault(rulesOfKind(kind).refusals.failed, `Could not answer: the ${kind} ${why}`)

const NOT_HTTP1 = 'has sent an answer that is not of HTTP/1.1'

/** Why the instance has not answered. A request that was to end has failed by that, whatever its instance said then. */
export function unansweredFault(
  error: unknown,
  { kind, ending }: Pick<ForwardedRequest, 'kind' | 'ending'>,
): Error {
  if (ending.reason !== undefined) return ending.reason
  if (error instanceof NotHttp) return failedFault(kind, `${NOT_HTTP1}: ${error.message}`)
  return error instanceof ErgonError || error instanceof NotAnswered ? error : failedFault(kind)
}
