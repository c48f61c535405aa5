// An operation, for any caller: the scope it needs and how it is counted.
import type { Tier } from './ledger/charge.ts'

export const SCOPES = ['read', 'deploy', 'billing-admin'] as const
export type Scope = (typeof SCOPES)[number]

export type Operation = {
  /** The service it belongs to, for usage grouped by service. */
  readonly service: string
  /** The scope a token needs; null: no token is needed. */
  readonly scope: Scope | null
  /** May be called without a token, for public resources. A token that is sent counts as usual. */
  readonly tokenOptional?: true
  /**
   * Also for a token of a smaller scope that is the greatest of its member's role. The handler lets it reach only
   * records of the member.
   */
  readonly ofMember?: true
  /** Also for a token of any scope whose id is this parameter of the path: every token may end itself. */
  readonly ofItself?: string
  /**
   * Answered also when the account cannot pay: the account must still see its bills. The account pays while it can;
   * after that the operator does, for a few at once. Deletions and suspensions lower what it is charged. 'suspension': a
   * change, answered then where its body suspends the resource and has nothing else.
   */
  readonly answeredUnpaid?: true | 'suspension'
  /** Answered also when the energy budget of the token is used up, at the operator's cost: a leaked token can be ended. */
  readonly answeredExhausted?: true
  /**
   * Answered also while the account is being deleted: reads of its records, and the operation that takes the deletion
   * back.
   */
  readonly answeredDeleting?: true
  /** Answered also while the account is suspended: operations that end its payments. */
  readonly answeredSuspended?: true
  /** The tier of every answer; 'router' where the router decides. */
  readonly tier: Tier | 'router'
  readonly stage: 'preview' | 'general'
  /** True: GET /v1/usage/last may answer with it. False for reads that programs make again and again, as at a login. */
  readonly remembered: boolean
  /** True: Idempotency-Key is honoured. */
  readonly idempotent: boolean
  /** Answered on the portal's origin alone: its credential is a session, or it opens one. */
  readonly onPortal?: true
  /** A session may call it only for some minutes after its member has used a passkey. */
  readonly needsTouch?: true
  /** Also for a session that was opened by a recovery code and has no passkey yet. */
  readonly limited?: true
  /** No path of the JSON API names it: another protocol does, or no request. */
  readonly unrouted?: true
  /** Work by the minute or by stored bytes: its charge stands for no request. */
  readonly withoutRequest?: true
}

/** Presets: of operations that run no model, and of those that read an account's own records. */
export const withoutModel = { tier: 'L0', stage: 'preview', idempotent: false } as const
export const ownView = {
  ...withoutModel,
  scope: 'read',
  answeredUnpaid: true,
  answeredDeleting: true,
} as const

/** Work of a service that no request asks for. */
export const backgroundWork = <Service extends string>(service: Service) =>
  ({
    ...withoutModel,
    service,
    scope: null,
    remembered: false,
    unrouted: true,
    withoutRequest: true,
  }) as const

/**
 * Reads of an account's own records, and operations that end credentials: answered also while the account is
 * suspended.
 */
export const isAlwaysAnswered = ({
  answeredUnpaid,
  answeredDeleting,
}: Pick<Operation, 'answeredUnpaid' | 'answeredDeleting'>): boolean =>
  answeredUnpaid === true && answeredDeleting === true

/** True where an account that cannot pay gets an answer to this body. */
export const isAnsweredUnpaid = (
  { answeredUnpaid }: Pick<Operation, 'answeredUnpaid'>,
  body: unknown,
): boolean => answeredUnpaid === true || (answeredUnpaid === 'suspension' && isSuspension(body))

const isSuspension = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  'suspended' in body &&
  body.suspended === true &&
  Object.keys(body).length === 1

const GRANTS: Record<Scope, readonly Scope[]> = {
  read: ['read'],
  deploy: ['read', 'deploy'],
  'billing-admin': ['read', 'deploy', 'billing-admin'],
}

/** True when a token of scope `held` may call an operation that needs `needed`. */
export const permits = (held: Scope, needed: Scope | null): boolean =>
  needed === null || GRANTS[held].includes(needed)
