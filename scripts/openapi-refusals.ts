// Which refusals an operation can answer with, for the OpenAPI document: of each code of the errors table
// when it can come. What has to do with no operation (the form of a request, a path that is none) is `default`.
import { ERRORS, type Code } from '#contract/errors.ts'
import type { Operation } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'

/** What decides it of an operation. */
export type Facts = Pick<
  Operation,
  'scope' | 'idempotent' | 'tier' | 'service' | 'answeredUnpaid'
> & {
  readonly name: OperationName
  readonly hasBody: boolean
  readonly hasQuery: boolean
}
type When = (facts: Facts) => boolean

const never: When = () => false
/** Said once, as the default of all. */
const ofAny = never
const withToken: When = ({ scope }) => scope !== null
const paid: When = (facts) => withToken(facts) && facts.answeredUnpaid !== true
const withBody: When = ({ hasBody }) => hasBody
const idempotent: When = (facts) => facts.idempotent
/** A model answers it. */
const routed: When = ({ tier }) => tier === 'router'
const named =
  (...names: readonly OperationName[]): When =>
  ({ name }) =>
    names.includes(name)
const either =
  (...all: readonly When[]): When =>
  (facts) =>
    all.some((when) => when(facts))

const READY = named('service.ready')

const WHEN: Readonly<Record<Code, When>> = {
  invalid_request: either(withBody, idempotent, ({ hasQuery }) => hasQuery),
  invalid_json: withBody,
  malformed_request: ofAny,
  context_length_exceeded: routed,
  unsupported_parameter: routed,
  token_missing: withToken,
  token_unknown: either(withToken, named('service.metrics')),
  token_revoked: withToken,
  token_expired: withToken,
  // Every token may read; an address to write by needs more.
  scope_missing: either(({ scope }) => scope !== null && scope !== 'read', named('presign.create')),
  not_found: named('usage.last', 'receipt.checkpoint', 'receipt.tile', 'service.metrics'),
  model_not_found: either(routed, named('model.get')),
  receipt_not_found: named('receipt.get'),
  method_not_allowed: ofAny,
  request_timeout: withBody,
  idempotency_in_progress: idempotent,
  idempotency_answer_too_large: idempotent,
  body_too_large: withBody,
  uri_too_long: ofAny,
  unsupported_media_type: withBody,
  expectation_failed: ofAny,
  host_unknown: ofAny,
  idempotency_key_reused: idempotent,
  headers_too_large: ofAny,
  // Nobody reads it.
  client_closed: never,
  balance_depleted: paid,
  ceiling_reached: withToken,
  free_tier_exceeded: paid,
  budget_exhausted: paid,
  too_many_requests: withToken,
  internal: ofAny,
  not_implemented: ofAny,
  upstream_failed: routed,
  model_loading: routed,
  model_not_available: routed,
  state_unavailable: either(withToken, READY, ({ service }) => service === 'receipts'),
  storage_fenced: READY,
  storage_away: never,
  overloaded: either(withToken, withBody),
  draining: ofAny,
  deadline_exceeded: routed,
  upstream_timeout: routed,
  storage_full: READY,
}

/** Status → codes that the operation can refuse with, in the order of their statuses. */
export function refusalsOf(facts: Facts): ReadonlyMap<number, readonly Code[]> {
  const codes = (Object.keys(ERRORS) as Code[]).filter((code) => WHEN[code](facts))
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status as number)
  return new Map([...byStatus].toSorted(([a], [b]) => a - b))
}
