// The account, member and token that a request speaks for.
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { permits, type Operation, type Scope } from '#contract/operation.ts'
import { RIGHTS, type MemberRole } from '#contract/roles.ts'

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
  /** The limit of the token itself, where it has one. */
  readonly requestsPerMinute?: number
  /** Ids of energy budgets that limit the caller's requests, and never pay. */
  readonly budgets?: readonly string[]
}

/** The caller of an operation that needs a token, where nobody gets without one. */
export const callerOf = (who: Principal | undefined): Principal =>
  present(who, 'the operation needs a token')

/** Throws scope_missing when the token may not call the operation. */
export function demandScope(
  who: Pick<Principal, 'scope' | 'role'>,
  operation: string,
  { scope: needed, ofMember }: Pick<Operation, 'scope' | 'ofMember'>,
): void {
  const isAllowed =
    permits(who.scope, needed) || (ofMember === true && who.scope === RIGHTS[who.role].scope)
  if (!isAllowed)
    throw fault(
      'scope_missing',
      `Could not call ${operation}: the token has scope "${who.scope}", it needs "${needed}"`,
      { details: { scope: needed } },
    )
}
