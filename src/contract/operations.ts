// Every operation of the product, once. A route, an S3 method or a SQL session binds to one of these;
// the scope matrix, the operation-matrix test and the OpenAPI page are all made from this table.
import type { Tier } from '#contract/charge.ts'
import { STORAGE_OPERATIONS } from '#contract/s3-operations.ts'

export const SCOPES = ['read', 'deploy', 'billing-admin'] as const
export type Scope = (typeof SCOPES)[number]

export type Operation = {
  /** The service it belongs to, for usage grouped by service. */
  readonly service: 'inference' | 'usage' | 'receipts' | 'service' | 'storage'
  /** The scope a token needs; null: no token is needed. */
  readonly scope: Scope | null
  /** Asked without a token too: what is nobody's is public. A token that is sent counts as ever. */
  readonly tokenOptional?: true
  /**
   * Answered too when the account cannot pay: what it was billed, and for what, must not be out of its sight
   * then. Paid as ever while it can pay; after that it is the operator's, a few at once.
   */
  readonly answeredUnpaid?: true
  /** The tier of every answer; 'router' where the router decides. */
  readonly tier: Tier | 'router'
  readonly stage: 'preview' | 'general'
  /** Whether GET /v1/usage/last may answer with it: not what programs ask by themselves, as at a login. */
  readonly remembered: boolean
  /** Whether Idempotency-Key is honoured. */
  readonly idempotent: boolean
}

const inference = {
  service: 'inference',
  scope: 'read',
  tier: 'router',
  stage: 'preview',
  remembered: true,
} as const
const look = { tier: 'L0', stage: 'preview', idempotent: false } as const
const ownView = { ...look, scope: 'read', answeredUnpaid: true } as const

export const OPERATIONS = {
  'chat.create': { ...inference, idempotent: true },
  'completion.create': { ...inference, idempotent: true },
  'embedding.create': { ...inference, idempotent: true },
  'model.list': { ...ownView, service: 'inference', remembered: false },
  'model.get': { ...ownView, service: 'inference', remembered: false },
  'presign.create': { ...look, service: 'storage', scope: 'read', remembered: true },
  'usage.last': { ...ownView, service: 'usage', remembered: false },
  'usage.get': { ...ownView, service: 'usage', remembered: false },
  'receipt.list': { ...ownView, service: 'receipts', remembered: false },
  'receipt.get': { ...ownView, service: 'receipts', tokenOptional: true, remembered: false },
  'receipt.keys': { ...look, service: 'receipts', scope: null, remembered: false },
  'receipt.checkpoint': { ...look, service: 'receipts', scope: null, remembered: false },
  'receipt.tile': { ...look, service: 'receipts', scope: null, remembered: false },
  'service.health': { ...look, service: 'service', scope: null, remembered: false },
  'service.ready': { ...look, service: 'service', scope: null, remembered: false },
  'service.metrics': { ...look, service: 'service', scope: null, remembered: false },
  ...STORAGE_OPERATIONS,
  /** No request: what a bucket stored for a minute. */
  'storage.standing': { ...look, service: 'storage', scope: null, remembered: false },
  /** No request: lines of an access log become an object. */
  'storage.log-delivery': { ...look, service: 'storage', scope: null, remembered: false },
  /** No request: what a cell of an account used for a minute. */
  'cell.standing': { ...look, service: 'service', scope: null, remembered: false },
  /** What is answered to nobody: public pages, parser errors, 401, 404, 405. Many share one charge. */
  'service.nobody': { ...look, service: 'service', scope: null, remembered: false },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS

export const operationOf = (name: OperationName): Operation => OPERATIONS[name]

const GRANTS: Record<Scope, readonly Scope[]> = {
  read: ['read'],
  deploy: ['read', 'deploy'],
  'billing-admin': ['read', 'deploy', 'billing-admin'],
}

/** Whether a token of scope `held` may call an operation that needs `needed`. */
export const permits = (held: Scope, needed: Scope | null): boolean =>
  needed === null || GRANTS[held].includes(needed)
