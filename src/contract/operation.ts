// What an operation is: whoever asks for it, what it needs and how it is counted.
import type { Tier } from '#contract/charge.ts'

export const SCOPES = ['read', 'deploy', 'billing-admin'] as const
export type Scope = (typeof SCOPES)[number]

export type Operation = {
  /** The service it belongs to, for usage grouped by service. */
  readonly service: string
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
  /** No path of the JSON API names it: another protocol does, or no request. */
  readonly unrouted?: true
}

/** Presets of operations that answer from what is known, and of those on an account's own records. */
export const look = { tier: 'L0', stage: 'preview', idempotent: false } as const
export const ownView = { ...look, scope: 'read', answeredUnpaid: true } as const

const GRANTS: Record<Scope, readonly Scope[]> = {
  read: ['read'],
  deploy: ['read', 'deploy'],
  'billing-admin': ['read', 'deploy', 'billing-admin'],
}

/** Whether a token of scope `held` may call an operation that needs `needed`. */
export const permits = (held: Scope, needed: Scope | null): boolean =>
  needed === null || GRANTS[held].includes(needed)
