// Who a request speaks for.
import type { Scope } from '#contract/operations.ts'

export type Principal = {
  readonly account: string
  readonly token: string
  readonly scope: Scope
  readonly env: 'live' | 'test'
  /** Whether funds were ever on file: then the money wallet pays, else the free tier. */
  readonly funded: boolean
  /** Whether the account refuses S3 addresses and forms that bear a token. */
  readonly refusesTokenPresign: boolean
}
