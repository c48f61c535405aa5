// The rule of sign-up, by its setting, by the money of new accounts, and by the state of an invited member.
import { fault } from '#contract/errors.ts'
import type { AccountMember } from '#identity/members.ts'
import type { PortalParts } from './parts.ts'

/** Accounts with test money are made on this machine alone, where nobody is a stranger. */
export const isCounted = ({ env }: PortalParts): boolean => env === 'live'

/** A code lets its member in under every rule of sign-up, if the member is active. Throws sign_up_closed. */
export function demandJoinable({ signUp }: PortalParts, { state }: AccountMember): void {
  if (signUp === 'closed' && state === 'invited') throw signUpClosed('nobody new is taken')
}

export const signUpClosed = (why: string) => fault('sign_up_closed', `Could not sign up: ${why}`)
