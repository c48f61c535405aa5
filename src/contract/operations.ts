// Every operation of the product, once. A route, an S3 method or a SQL session binds to one of these;
// the scope matrix, the operation-matrix test and the OpenAPI page are all made from this table.
import type { Tier } from '#contract/charge.ts'
import { STORAGE_OPERATIONS } from '#contract/storage-operations.ts'

export const SCOPES = ['read', 'deploy', 'billing-admin'] as const
export type Scope = (typeof SCOPES)[number]

export type Operation = {
  /** The service it belongs to, for usage grouped by service. */
  readonly service: 'inference' | 'usage' | 'receipts' | 'service' | 'storage'
  /** The scope a token needs; null: no token is needed. */
  readonly scope: Scope | null
  /** Asked without a token too: what is nobody's is public. A token that is sent counts as ever. */
  readonly tokenOptional?: true
  /** The tier of every answer; 'router' where the router decides. */
  readonly tier: Tier | 'router'
  readonly stage: 'preview' | 'general'
  /** Whether GET /v1/usage/last may answer with it. */
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

export const OPERATIONS = {
  'chat.create': { ...inference, idempotent: true },
  'completion.create': { ...inference, idempotent: true },
  'embedding.create': { ...inference, idempotent: true },
  'model.list': { ...look, service: 'inference', scope: 'read', remembered: true },
  'model.get': { ...look, service: 'inference', scope: 'read', remembered: true },
  'presign.create': { ...look, service: 'storage', scope: 'read', remembered: true },
  'usage.last': { ...look, service: 'usage', scope: 'read', remembered: false },
  'usage.get': { ...look, service: 'usage', scope: 'read', remembered: false },
  'receipt.list': { ...look, service: 'receipts', scope: 'read', remembered: false },
  'receipt.get': {
    ...look,
    service: 'receipts',
    scope: 'read',
    tokenOptional: true,
    remembered: false,
  },
  'receipt.keys': { ...look, service: 'receipts', scope: null, remembered: false },
  'receipt.checkpoint': { ...look, service: 'receipts', scope: null, remembered: false },
  'receipt.tile': { ...look, service: 'receipts', scope: null, remembered: false },
  'service.health': { ...look, service: 'service', scope: null, remembered: false },
  'service.ready': { ...look, service: 'service', scope: null, remembered: false },
  'service.metrics': { ...look, service: 'service', scope: null, remembered: false },
  ...STORAGE_OPERATIONS,
  /** No request: what a bucket stored for a minute. */
  'storage.standing': { ...look, service: 'storage', scope: null, remembered: false },
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
