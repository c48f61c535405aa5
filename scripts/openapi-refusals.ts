// Which refusals an operation can answer with, for the OpenAPI document: the codes that follow from the operation's
// facts, and the codes that its description names. Codes of every operation (a malformed request, an unknown path) are
// the document's `default`.
import { ERRORS, type Code } from '#contract/errors.ts'
import type { Operation } from '#contract/operation.ts'

export type Facts = Pick<
  Operation,
  | 'scope'
  | 'idempotent'
  | 'answeredUnpaid'
  | 'answeredDeleting'
  | 'onPortal'
  | 'needsTouch'
  | 'limited'
> & {
  readonly hasBody: boolean
  readonly hasQuery: boolean
  /** The refusals that the description names. */
  readonly refusals: readonly Code[]
}
type When = (facts: Facts) => boolean

const named: When = ({ scope }) => scope !== null
const withToken: When = (facts) => named(facts) && facts.onPortal !== true
const paid: When = (facts) => named(facts) && facts.answeredUnpaid !== true
const withBody: When = ({ hasBody }) => hasBody
const idempotent: When = (facts) => facts.idempotent
const either =
  (...all: readonly When[]): When =>
  (facts) =>
    all.some((when) => when(facts))

/** Codes that follow from facts. Descriptions name the others. */
export const WHEN: Readonly<Partial<Record<Code, When>>> = {
  invalid_request: either(withBody, idempotent, ({ hasQuery }) => hasQuery),
  invalid_json: withBody,
  token_missing: withToken,
  token_unknown: withToken,
  token_revoked: withToken,
  token_expired: withToken,
  scope_missing: ({ scope }) => scope !== null && scope !== 'read',
  request_timeout: withBody,
  idempotency_in_progress: idempotent,
  idempotency_answer_too_large: idempotent,
  body_too_large: withBody,
  unsupported_media_type: withBody,
  idempotency_key_reused: idempotent,
  balance_depleted: paid,
  ceiling_reached: named,
  free_tier_exceeded: paid,
  budget_exhausted: named,
  account_deleting: (facts) => named(facts) && facts.answeredDeleting !== true,
  too_many_requests: named,
  rate_limit_exceeded: named,
  state_unavailable: named,
  overloaded: either(named, withBody),
  // At the portal, where a session is the credential of every operation.
  session_missing: named,
  session_ended: named,
  passkey_required: (facts) => named(facts) && facts.limited !== true,
  touch_required: ({ needsTouch }) => needsTouch === true,
  portal_only: ({ onPortal }) => onPortal === true,
}

/** Codes that no operation names: every request can get them, or no client reads them. */
export const UNNAMED: ReadonlySet<Code> = new Set<Code>([
  'malformed_request',
  'method_not_allowed',
  'uri_too_long',
  'expectation_failed',
  'host_unknown',
  'origin_refused',
  'headers_too_large',
  'client_closed',
  'internal',
  'charges_damaged',
  'not_implemented',
  'storage_away',
  'draining',
  // At the addresses of functions and workloads, which have no operations.
  'route_not_found',
  'function_failed',
  'function_crashed',
  'function_timeout',
  'function_busy',
  'function_starting',
  'function_suspended',
  'function_budget_exhausted',
  'workload_failed',
  'workload_crashed',
  'workload_timeout',
  'workload_busy',
  'workload_starting',
  'workload_suspended',
  'workload_budget_exhausted',
])

/** Status → codes that the operation can refuse with, in the order of their statuses. */
export function refusalsOf(facts: Facts): ReadonlyMap<number, readonly Code[]> {
  const codes = (Object.keys(ERRORS) as Code[]).filter(
    (code) => facts.refusals.includes(code) || WHEN[code]?.(facts),
  )
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status as number)
  return new Map([...byStatus].toSorted(([a], [b]) => a - b))
}
