// Scopes of tokens in words.
import type { Scope } from '#contract/operation.ts'

export const SCOPE_WORDS: Readonly<
  Record<Scope, { readonly short: string; readonly long: string }>
> = {
  read: { short: 'ask and read', long: 'Ask models, read objects, usage and receipts' },
  deploy: { short: 'ask, read, change', long: 'Also write objects, and make and change what runs' },
  'billing-admin': { short: 'everything', long: 'Also money, tokens, members and the account' },
}
export const SCOPES = Object.keys(SCOPE_WORDS) as readonly Scope[]
