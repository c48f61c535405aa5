// Limits: tokens and members of an account.
import { ACCEPTANCES_MAX, ACCEPTANCES_PER_MINUTE } from '#accounts/operations/member-accept.ts'
import * as members from '#contract/accounts/members.ts'
import { ACCOUNT_TOKENS_MAX } from '#contract/identity/token-limits.ts'
import { code, count, type LimitSection } from './limit.ts'

export const MEMBERS: LimitSection = {
  title: 'Tokens and members of an account',
  limits: [
    ['valid tokens', count(ACCOUNT_TOKENS_MAX), code('too_many_tokens')],
    ['members, invited ones too', count(members.MEMBERS_MAX), code('too_many_members')],
    [
      'invitations that nobody has accepted',
      count(members.INVITATIONS_MAX),
      code('too_many_members'),
    ],
    ['days of an invitation', count(members.INVITATION_DAYS_MAX), code('invalid_request')],
    [
      'codes of invitations from one address (IPv6: from its first 64 bits) in a minute, to each gateway',
      count(ACCEPTANCES_PER_MINUTE),
      code('rate_limit_exceeded'),
    ],
    ['acceptances at once, in each gateway', count(ACCEPTANCES_MAX), code('overloaded')],
  ],
}
