// Every error code of the product: its status, whose fault it is, the OpenAI error type that SDKs
// branch on, and what to do. docs/reference/errors.md is printed from here.
import { ErgonError } from '#base/errors.ts'

type Fault = {
  readonly status: number
  readonly fault: 'caller' | 'account' | 'service'
  readonly type: string
  readonly help: string
}

const caller = (status: number, help: string, type = 'invalid_request_error'): Fault => ({
  status,
  fault: 'caller',
  type,
  help,
})
const account = (status: number, type: string, help: string): Fault => ({
  status,
  fault: 'account',
  type,
  help,
})
const service = (status: number, help: string): Fault => ({
  status,
  fault: 'service',
  type: 'api_error',
  help,
})

export const ERRORS = {
  invalid_request: caller(400, 'Correct the field named in `param`.'),
  invalid_json: caller(400, 'Send one JSON value in UTF-8 with Content-Type: application/json.'),
  malformed_request: caller(400, 'Send a well-formed HTTP/1.1 request.'),
  context_length_exceeded: caller(
    400,
    'Shorten the messages, or name a model with a longer context.',
  ),
  unsupported_parameter: caller(400, 'Leave the parameter out, or name a model that supports it.'),
  token_missing: caller(401, 'Send Authorization: Bearer <token>.', 'authentication_error'),
  token_unknown: caller(
    401,
    'Check the token; mint one with `ergon admin token create`.',
    'authentication_error',
  ),
  token_revoked: caller(401, 'Use the token that replaced it.', 'authentication_error'),
  token_expired: caller(401, 'Mint a new token.', 'authentication_error'),
  scope_missing: caller(403, 'Use a token of the scope named in the message.', 'permission_error'),
  not_found: caller(404, 'Check the path.', 'not_found_error'),
  model_not_found: caller(404, 'List the models with GET /v1/models.', 'not_found_error'),
  receipt_not_found: caller(
    404,
    'Check the identifier; receipts are readable by their account.',
    'not_found_error',
  ),
  method_not_allowed: caller(405, 'Use a method named in the Allow header.'),
  request_timeout: caller(408, 'Send the request faster.'),
  idempotency_in_progress: caller(409, 'Wait for the first request to end.'),
  idempotency_answer_too_large: caller(
    409,
    'Send a new Idempotency-Key to be served, and billed, again; ask for less at once to have it kept.',
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
  balance_depleted: account(402, 'insufficient_quota', 'Add funds to the account.'),
  ceiling_reached: account(
    402,
    'insufficient_quota',
    'The request used the energy it was admitted with; lower max_tokens.',
  ),
  free_tier_exceeded: account(
    429,
    'insufficient_quota',
    'Put funds on file, or wait until 00:00 UTC.',
  ),
  too_many_requests: account(
    429,
    'rate_limit_error',
    'Send fewer requests at once; retry after the time in Retry-After.',
  ),
  internal: service(500, 'Retry; if it stays, report the request id.'),
  not_implemented: service(501, 'This part of the interface is not served yet.'),
  upstream_failed: service(
    502,
    'Retry, or name another model. What models spent on an answer of which nothing came is not charged.',
  ),
  model_loading: service(503, 'Retry after the time in Retry-After.'),
  model_not_available: service(
    503,
    '`ergon models list` says what runs and why not, `ergon models add <name>` adds a model.',
  ),
  state_unavailable: service(503, 'Retry after the time in Retry-After.'),
  storage_fenced: service(
    503,
    'A write or a sync of a blob failed: nothing more is written until the operator has looked at the disk and restarted the gateway.',
  ),
  storage_away: service(
    503,
    'The store of the bytes does not answer; retry after the time in Retry-After.',
  ),
  overloaded: service(503, 'Retry after the time in Retry-After.'),
  draining: service(503, 'Retry; this process is stopping.'),
  // The time that any request has, whoever is slow: were it the service's, one could ask for more than fits and
  // have models work for nothing.
  deadline_exceeded: caller(
    504,
    'Ask for less at once, such as fewer tokens; what was spent in the time that a request has is charged.',
    'api_error',
  ),
  upstream_timeout: service(
    504,
    'Retry, or lower max_tokens. What models spent on an answer of which nothing came is not charged.',
  ),
  storage_full: service(507, 'The disk of the service is full; tell its operator.'),
} as const satisfies Record<string, Fault>

export type Code = keyof typeof ERRORS

/** An error of the catalogue. The message says what could not be done, then a colon and the value. */
export const fault = (
  code: Code,
  message: string,
  more: ConstructorParameters<typeof ErgonError>[2] = {},
): ErgonError => new ErgonError({ code, status: ERRORS[code].status }, message, more)

/** Whether it is the service's fault: no caller could have asked otherwise, and no balance paid for it. */
export const isServiceFault = (error: unknown): boolean =>
  !(error instanceof ErgonError) ||
  ((ERRORS as Record<string, Fault>)[error.code]?.fault ?? 'service') === 'service'

/**
 * What happened and what to do, for people. The message of an Ergon that is our upstream has the advice already.
 */
export function advised({ code, message }: ErgonError): string {
  const help = (ERRORS as Record<string, Fault>)[code]?.help
  if (help === undefined || message.endsWith(help)) return message
  return `${message.replace(/\.$/, '')}. ${help}`
}

/**
 * The OpenAI error object, which is the member `error` of our problem+json bodies and SSE errors. Its message has the
 * advice too: the SDKs show nothing else.
 */
export function openaiError(error: ErgonError): {
  message: string
  type: string
  code: string
  param: string | null
} {
  const known = (ERRORS as Record<string, Fault>)[error.code]
  return {
    message: advised(error),
    type: known?.type ?? 'api_error',
    code: error.code,
    param: error.param,
  }
}
