// The error codes of the API: status, whose fault, the OpenAI error type that SDKs branch on, and advice.
// docs/reference/errors.md is printed from here and from operator-errors.ts.
import { ACCOUNTS_ERRORS } from './accounts/errors.ts'
import { WEBHOOKS_ERRORS } from './webhooks/errors.ts'
import { COMPLIANCE_ERRORS } from './compliance/errors.ts'
import { DATABASES_ERRORS } from './databases/errors.ts'
import { DEPLOYMENTS_ERRORS } from './deployments/errors.ts'
import { FUNCTIONS_ERRORS } from './functions/errors.ts'
import { WORKLOADS_ERRORS } from './workloads/errors.ts'
import { ErgonError, type FaultOptions } from '#base/errors.ts'
import { BASE_ERRORS } from '#base/own-errors.ts'
import {
  account,
  caller,
  final,
  service,
  complete,
  type ErrorEntry,
  type ErrorTable,
} from './error-entry.ts'
import { INFERENCE_ERRORS } from './inference/errors.ts'
import { OPERATOR_API_ERRORS } from './operator/errors.ts'
import { PAYMENTS_ERRORS } from './payments/errors.ts'
import { PORTAL_ERRORS } from './portal/errors.ts'
import { STORAGE_API_ERRORS } from './storage/errors.ts'
import { OPERATOR_ERRORS, type OperatorCode } from './operator/operator-errors.ts'

/** The codes of the service itself, then one line an area. */
export const ERRORS = {
  invalid_request: complete(caller(400, 'Correct the part of the request that the message names.')),
  invalid_json: caller(400, 'Send one JSON value in UTF-8 with Content-Type: application/json.'),
  malformed_request: caller(400, 'Send a well-formed HTTP/1.1 request.'),
  token_missing: caller(401, 'Send Authorization: Bearer <token>.', 'authentication_error'),
  token_unknown: caller(
    401,
    'Check the token; a member makes one with `ergon login` or at the portal, the operator with `ergon admin token create`.',
    'authentication_error',
  ),
  token_revoked: caller(
    401,
    'Use another token: this one was rotated or revoked, or its member or account has left.',
    'authentication_error',
  ),
  token_expired: caller(401, 'Mint a new token.', 'authentication_error'),
  scope_missing: caller(
    403,
    'Use a token of the scope that the message names. Where it names roles, a member with one of them makes such a token: `ergon members list`.',
    'permission_error',
  ),
  not_found: caller(404, 'Check the path.', 'not_found_error'),
  receipt_not_found: caller(
    404,
    'Check the identifier; receipts are readable by their account.',
    'not_found_error',
  ),
  method_not_allowed: caller(405, 'Use a method named in the Allow header.'),
  request_timeout: caller(408, 'Send the request faster.'),
  idempotency_in_progress: caller(409, 'Wait for the first request to end.'),
  idempotency_answer_too_large: final(
    caller(
      409,
      'Send a new Idempotency-Key to be served, and billed, again; ask for less at once to have it kept.',
    ),
  ),
  body_too_large: caller(413, 'Send a smaller body.'),
  uri_too_long: caller(414, 'Send a shorter path and query.'),
  unsupported_media_type: caller(415, 'Send Content-Type: application/json.'),
  expectation_failed: caller(417, 'Send no Expect header but 100-continue.'),
  host_unknown: caller(
    421,
    'Use the base address that the service printed at its start; for another name, start it with ERGON_BASE_URL (or --base-url) set to the address that clients use.',
  ),
  idempotency_key_reused: caller(422, 'Use a new Idempotency-Key for another request.'),
  headers_too_large: caller(431, 'Send fewer or shorter headers.'),
  client_closed: caller(499, 'The client closed the connection before the answer was complete.'),
  balance_depleted: final(
    account(
      402,
      'insufficient_quota',
      'Add funds, as owner or admin of the account, or ask one of them: `ergon members list`.',
    ),
  ),
  ceiling_reached: final(
    account(
      402,
      'insufficient_quota',
      'The request reached its ceiling of energy: lower max_tokens.',
    ),
  ),
  free_tier_exceeded: final(
    account(
      429,
      'insufficient_quota',
      'Wait until 00:00 UTC, or put funds on file, which takes an owner or admin of the account.',
    ),
  ),
  budget_exhausted: final(
    account(
      429,
      'insufficient_quota',
      'An energy budget that limits the request is used up: wait until it is renewed, or ask an owner or admin to raise it.',
    ),
  ),
  too_many_requests: account(
    429,
    'rate_limit_error',
    'Send fewer requests at once; retry after the time in Retry-After.',
  ),
  rate_limit_exceeded: account(
    429,
    'rate_limit_error',
    'Send fewer requests in a minute; retry after the time in Retry-After.',
  ),
  charges_damaged: final(
    service(500, 'The operator is told; charges of other times are not affected.'),
  ),
  internal: service(BASE_ERRORS.internal.status, BASE_ERRORS.internal.help),
  not_implemented: final(service(501, 'This part of the interface is not served yet.')),
  state_unavailable: service(503, 'Retry after the time in Retry-After.'),
  overloaded: service(503, 'Retry after the time in Retry-After.'),
  draining: service(503, 'Retry; this process is stopping.'),
  // The caller pays for a request that meets its time limit, even when the service was slow: otherwise a caller
  // could ask for more than fits in the limit and use models without paying.
  deadline_exceeded: final(
    caller(
      504,
      'Ask for less at once, such as fewer tokens; the energy until the deadline is charged.',
      'api_error',
    ),
  ),
  ...ACCOUNTS_ERRORS,
  ...INFERENCE_ERRORS,
  ...STORAGE_API_ERRORS,
  ...DATABASES_ERRORS,
  ...FUNCTIONS_ERRORS,
  ...DEPLOYMENTS_ERRORS,
  ...WORKLOADS_ERRORS,
  ...PAYMENTS_ERRORS,
  ...WEBHOOKS_ERRORS,
  ...COMPLIANCE_ERRORS,
  ...PORTAL_ERRORS,
  ...OPERATOR_API_ERRORS,
} as const satisfies ErrorTable

export type Code = keyof typeof ERRORS

/** An error of the catalogue. The message says what could not be done, then a colon and the value. */
export const fault = (
  code: Code | OperatorCode,
  message: string,
  more: FaultOptions = {},
): ErgonError => new ErgonError({ code, status: statusOf(code) }, message, more)

const statusOf = (code: Code | OperatorCode): number =>
  code in ERRORS ? ERRORS[code as Code].status : OPERATOR_ERRORS[code as OperatorCode].status

/** The entry of an error of the API; undefined for the operator's codes and for other protocols' codes. */
export const entryOf = ({ code }: { readonly code: string }): ErrorEntry | undefined =>
  (ERRORS as Record<string, ErrorEntry>)[code]

/** True for a fault of the service: no caller could have avoided it, and no balance paid for it. */
export const isServiceFault = (error: unknown): boolean =>
  !(error instanceof ErgonError) || (entryOf(error)?.fault ?? 'service') === 'service'

/**
 * Message and advice, for people. The message of an upstream that is an Ergon has the advice already.
 */
export function advised(error: ErgonError): string {
  const { message } = error
  const { help, complete: isComplete } = entryOf(error) ?? {}
  if (help === undefined || isComplete || message.endsWith(help)) return message
  return message.endsWith('?') ? `${message} ${help}` : `${message.replace(/\.$/, '')}. ${help}`
}

/** A text of advised() without the advice, for a reader who has a next step of its own. */
export function unadvised(text: string, code: string): string {
  const help = entryOf({ code })?.help
  return help !== undefined && text.endsWith(` ${help}`)
    ? text.slice(0, -` ${help}`.length).replace(/\.$/, '')
    : text
}

/**
 * The OpenAI error object, which is the field `error` of our problem+json bodies and SSE errors. Its message has the
 * advice too: the SDKs show nothing else.
 */
export function openaiError(error: ErgonError): {
  message: string
  type: string
  code: string
  param: string | null
} {
  return {
    message: advised(error),
    type: entryOf(error)?.type ?? 'api_error',
    code: error.code,
    param: error.param,
  }
}
