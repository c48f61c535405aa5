// The addresses of functions, as every program knows them. Each account has a name of its own, so that no function shares an
// origin with another account's.

export type FunctionsAddress = {
  /** The name that the names of accounts are below. */
  readonly host: string
  /** For paths that begin with the account; undefined off loopback. */
  readonly origin: string | undefined
  /** The address with a name of the account in the place of `*`. */
  readonly named: string
}

/** The name of an account in a host: no `_` is allowed there. */
export const hostLabelOf = (account: string): string => account.replace('_', '-')

/** The address of a whole name: the scheme and the port are those of all routes. */
export const urlOfHost = ({ host: below, named }: FunctionsAddress, host: string): string =>
  named.replace(`*.${below}`, host)

export const urlOfAccount = ({ origin, named }: FunctionsAddress, account: string): string =>
  origin === undefined ? named.replace('*', hostLabelOf(account)) : `${origin}/~${account}`
