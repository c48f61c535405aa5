// Refusals of the JSON API: application/problem+json (RFC 9457) whose extension field `error` is the OpenAI error
// object, so that both kinds of client find their fields.
import { ErgonError, messageOf, type ErrorDetails } from '#base/errors.ts'
import { advised, entryOf, fault, openaiError } from '#contract/errors.ts'
import type { RenderedError } from './protocol-handler.ts'

/** `facts` are fields beside those of the error. */
export function renderProblem(
  error: ErgonError,
  ids: { requestId: string },
  facts: ErrorDetails = {},
): RenderedError {
  const body = {
    type: `urn:ergon:error:${error.code}`,
    title: error.code,
    status: error.status,
    detail: advised(error),
    instance: ids.requestId,
    ...facts,
    ...error.details,
    error: openaiError(error),
  }
  return {
    contentType: 'application/problem+json',
    body: JSON.stringify(body),
    headers: {
      ...(error.retryAfterS === undefined ? {} : { 'Retry-After': String(error.retryAfterS) }),
      // SDKs retry 429 and 5xx by themselves.
      ...(entryOf(error)?.final === true ? { 'x-should-retry': 'false' } : {}),
      ...(error.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
      ...error.headers,
    },
  }
}

/** Anything thrown as an error of the catalogue; what is not one is ours, and its text stays inside. */
export function toErgonError(thrown: unknown): ErgonError {
  if (thrown instanceof ErgonError) return thrown
  return fault('internal', 'Could not complete the request', { cause: messageOf(thrown) })
}
