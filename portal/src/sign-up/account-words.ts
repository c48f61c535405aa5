// The account that somebody is invited to, in words that the invited person can compare with those of the inviter.
import type { InvitedMember } from '#contract/portal/portal.ts'

type Inviting = Pick<InvitedMember, 'account_id' | 'account_name' | 'account_owner' | 'name'>

/** Its name; without a name the account of its owner, with the id that the owner sees under Settings. An owner who gets a
 * further passkey knows the own name. */
export function accountWords({ account_id, account_name, account_owner, name }: Inviting): string {
  if (account_name !== null) return account_name
  return account_owner === null || account_owner === name
    ? `the account ${account_id}`
    : `the account of ${account_owner} (${account_id})`
}
