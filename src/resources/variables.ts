// The variables of resources in the state: sealed with the key of their kind, each for its account.
import { decrypt, encrypt } from '#base/encryption.ts'
import { Secret } from '#base/log.ts'

type Owner = { readonly kind: string; readonly account: string; readonly environmentKey: string }

export const sealVariables = (variables: Readonly<Record<string, string>>, owner: Owner): string =>
  encrypt(new Secret(JSON.stringify(variables)), new Secret(owner.environmentKey), purposeOf(owner))

/** The variables by name, in clear text. Throws undecipherable where the key or the owner is another. */
export const openVariables = (sealed: string, owner: Owner): Readonly<Record<string, string>> =>
  JSON.parse(
    decrypt(sealed, new Secret(owner.environmentKey), purposeOf(owner)).reveal(),
  ) as Record<string, string>

const purposeOf = ({ kind, account }: Owner): string => `environment of a ${kind} of ${account}`
