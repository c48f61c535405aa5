// The account and token that a request speaks for.
import { fault } from '#contract/errors.ts'
import { permits, type Scope } from '#contract/operation.ts'

export type Principal = {
  readonly account: string
  readonly token: string
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

/** Throws scope_missing when the token may not call the operation, which needs a scope. */
export function demandScope(who: Principal, operation: string, needed: Scope | null): void {
  if (!permits(who.scope, needed))
    throw fault(
      'scope_missing',
      `Could not call ${operation}: the token has scope "${who.scope}", it needs "${needed}"`,
      { details: { scope: needed } },
    )
}
