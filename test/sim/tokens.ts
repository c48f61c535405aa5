// The table of tokens, as identity/tokens.ts asks it.
import { hashToken } from '#identity/token-text.ts'
import { accountOf, type Books } from '#ledger/reference/books.ts'
import type { Queryable } from '#state/connect.ts'

export type SimToken = {
  readonly text: string
  readonly id: string
  readonly account: string
  revoked: boolean
}

/** Answers the look-up of identity/tokens.ts from the model. */
export function tokenTable(books: Books, tokens: readonly SimToken[]): Queryable {
  const byHash = new Map(tokens.map((token) => [hashToken(token.text).toString('hex'), token]))
  return {
    async query(_text, values) {
      const token = byHash.get(String((values?.[0] as Buffer | undefined)?.toString('hex')))
      if (token === undefined) return { rows: [], rowCount: 0 }
      const { env, funded } = accountOf(books, token.account)
      const row = {
        id: token.id,
        account: token.account,
        scope: 'read',
        expires_at: null,
        revoked_at: token.revoked ? new Date(0) : null,
        epoch: String(books.changes.length),
        env,
        funded,
        refuse_token_presign: false,
        requests_per_minute: null,
        budget: null,
      }
      return { rows: [row as never], rowCount: 1 }
    },
  }
}
