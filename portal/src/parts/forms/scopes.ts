// Scopes of tokens in words.
import { permits, type Scope } from '#contract/operation.ts'

export const SCOPE_WORDS: Readonly<
  Record<Scope, { readonly short: string; readonly long: string }>
> = {
  read: { short: 'ask and read', long: 'Ask models, read objects, usage and receipts' },
  deploy: { short: 'ask, read, change', long: 'Also write objects, and make and change what runs' },
  'billing-admin': { short: 'everything', long: 'Also money, tokens, members and the account' },
}
export const SCOPES = Object.keys(SCOPE_WORDS) as readonly Scope[]

/**
 * The scope that the approval of a login has chosen at first. Strangers begin logins too, so more than `deploy` is always
 * the person's own choice. `greatest` is the most of the person's role.
 */
export const proposedScope = (asked: Scope | null, greatest: Scope): Scope =>
  SCOPES.findLast((scope) =>
    [asked ?? 'deploy', 'deploy' as const, greatest].every((most) => permits(most, scope)),
  ) ?? 'read'
