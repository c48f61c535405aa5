// The account, member and token that a request speaks for.
import { present, type ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { isAlwaysAnswered, permits, type Operation, type Scope } from '#contract/operation.ts'
import { RIGHTS, ROLES, type MemberRole } from '#contract/identity/roles.ts'

/** A person at a browser: the facts of a session of the portal. All times are wall times. */
export type BrowserSession = {
  readonly endsMs: number
  /** The session ends at this time unless a request comes before. */
  readonly idleUntilMs: number
  /** Until then its member has just used a passkey. */
  readonly touchedUntilMs: number
  /** It may add a passkey, and nothing else before that. */
  readonly isLimited: boolean
  /** Its text is new, and the one before is known until this one is used. */
  readonly isNew: boolean
}

export type Principal = {
  readonly account: string
  readonly token: string
  /** The member whose token it is. */
  readonly member: string
  readonly role: MemberRole
  readonly scope: Scope
  readonly env: 'live' | 'test'
  /** True when funds were ever on file: then the money wallet pays, else the free tier. */
  readonly funded: boolean
  /** True when the account refuses S3 addresses and forms with a token in them. */
  readonly refusesTokenPresign: boolean
  /** The limit of the token itself, where it has one. Tokens of one key share it. */
  readonly rate?: { readonly key: string; readonly perMinute: number }
  /** Where the credential is a session of the portal: the token is the session's. */
  readonly session?: BrowserSession
  /**
   * True from the request for the account's deletion until its end: only operations with answeredDeleting are
   * answered.
   */
  readonly isDeleting?: boolean
  /** The reason of the operator, while the account is suspended: only operations that are always answered are. */
  readonly suspendedFor?: string
  /** Ids of energy budgets that limit the caller's requests, and never pay. */
  readonly budgets?: readonly string[]
}

/** The caller of an operation that needs a token, where nobody gets without one. */
export const callerOf = ({ caller }: { readonly caller: Principal | undefined }): Principal =>
  present(caller, 'the operation needs a token')

/** An operation as a principal is checked for it. */
type AccessRules = Pick<
  Operation,
  | 'scope'
  | 'ofMember'
  | 'ofItself'
  | 'answeredDeleting'
  | 'answeredUnpaid'
  | 'answeredSuspended'
  | 'needsTouch'
  | 'limited'
>

/**
 * Throws scope_missing when the token may not call the operation, and account_deleting when its account is being
 * deleted and the operation is not answered then; account_suspended for one that is suspended. For a session also
 * passkey_required and touch_required. `parameters` are those of the path, `nowMs` is the wall time.
 */
export function demandScope(
  caller: Pick<Principal, 'token' | 'scope' | 'role' | 'isDeleting' | 'suspendedFor' | 'session'>,
  operation: string,
  asked: AccessRules,
  {
    parameters,
    nowMs,
  }: { readonly parameters: Readonly<Record<string, string>>; readonly nowMs: number },
): void {
  const { ofMember, ofItself, answeredDeleting, answeredSuspended } = asked
  const needed = ofMember === true ? RIGHTS[caller.role].scope : asked.scope
  const isOfItself = ofItself !== undefined && parameters[ofItself] === caller.token
  if (needed !== null && !permits(caller.scope, needed) && !isOfItself)
    throw scopeMissing(`Could not call ${operation}`, caller, needed)
  if (caller.session !== undefined) demandPresence(caller.session, nowMs, operation, asked)
  if (caller.isDeleting === true && answeredDeleting !== true)
    throw fault('account_deleting', `Could not call ${operation}: the account is being deleted`)
  const isAnswered = answeredSuspended === true || isAlwaysAnswered(asked)
  if (caller.suspendedFor !== undefined && !isAnswered)
    throw suspended(`Could not call ${operation}`, caller.suspendedFor)
}

/** The refusal of a suspended account, with the reason of the operator. */
export const suspended = (what: string, reason: string) =>
  fault('account_suspended', `${what}: the operator suspended the account: ${reason}`, {
    details: { reason },
  })

/**
 * The refusal of a caller without a scope. A person at the portal has a role, a token has a scope; the roles that have the
 * scope are named where the own role has not.
 */
export function scopeMissing(
  what: string,
  { session, role, scope }: Pick<Principal, 'role' | 'scope'> & Partial<Pick<Principal, 'session'>>,
  needed: Scope,
): ErgonError {
  const isOfRole = permits(RIGHTS[role].scope, needed)
  const roles = ROLES.filter((one) => permits(RIGHTS[one].scope, needed)).join(' or ')
  const lack = `the token has scope "${scope}", it needs "${needed}"`
  const ofToken = isOfRole ? lack : `${lack}, which a member of role ${roles} has`
  const why =
    session === undefined ? ofToken : `you are "${role}", it is for a member of role ${roles}`
  return fault('scope_missing', `${what}: ${why}`, {
    details: { scope: needed, ...(isOfRole ? {} : { roles }) },
  })
}

/** Throws passkey_required, touch_required. */
function demandPresence(
  session: BrowserSession,
  nowMs: number,
  operation: string,
  { needsTouch, limited }: Pick<Operation, 'needsTouch' | 'limited'>,
): void {
  if (session.isLimited && limited !== true)
    throw fault(
      'passkey_required',
      `Could not call ${operation}: the session was opened by a recovery code`,
    )
  if (needsTouch === true && !session.isLimited && session.touchedUntilMs <= nowMs)
    throw fault('touch_required', `Could not call ${operation}: no passkey was used just now`)
}

/** Throws role_missing for a member who is no owner. */
export function demandOwner({ role }: Pick<Principal, 'role'>, operation: string): void {
  if (role !== 'owner')
    throw fault('role_missing', `Could not call ${operation}: the role is "${role}", not "owner"`)
}
