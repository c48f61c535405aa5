// Requests and replies of members.
import { z } from 'zod'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import { plainText } from '#contract/values/plain-text.ts'
import { ROLES } from '#contract/identity/roles.ts'
import { newTokenReply } from '#contract/identity/tokens.ts'

/** Members of an account, invited ones too. */
export const MEMBERS_MAX = 200
/** Invitations of an account that nobody has accepted, those that have ended too. */
export const INVITATIONS_MAX = 50
export const INVITATION_DAYS_MAX = 30
/** The life of the token that an acceptance makes. */
export const FIRST_TOKEN_DAYS = 90

const time = z.iso.datetime()
const words = plainText(200).min(1)
const role = z.enum(ROLES)
/** Days for which the code is accepted. */
const expiresDays = z.number().gt(0).max(INVITATION_DAYS_MAX).default(7)

export const memberInvitation = ownObject({
  /** The name by which people recognise the member. */
  name: words,
  role,
  /** Words by which the member is reached. Nothing is sent there. */
  contact: words.optional(),
  expires_days: expiresDays,
})
export type MemberInvitation = z.infer<typeof memberInvitation>

export const memberReinvitation = ownObject({ expires_days: expiresDays })
export type MemberReinvitation = z.infer<typeof memberReinvitation>

export const memberAcceptance = ownObject({
  code: z.string().regex(/^inv_[0-9A-Za-z]{38}$/, 'must be the code of an invitation, inv_…'),
})
export type MemberAcceptance = z.infer<typeof memberAcceptance>

export const memberChange = ownObject({
  name: words.optional(),
  role: role.optional(),
  /** Null: none. */
  contact: words.nullable().optional(),
}).refine((change) => Object.keys(change).length > 0, 'must have name, role or contact')
export type MemberChange = z.infer<typeof memberChange>

/** Each throws invalid_request. */
export const parseMemberInvitation = (json: unknown): MemberInvitation =>
  parseWith(memberInvitation, json)
export const parseMemberReinvitation = (json: unknown): MemberReinvitation =>
  parseWith(memberReinvitation, json)
export const parseMemberAcceptance = (json: unknown): MemberAcceptance =>
  parseWith(memberAcceptance, json)
export const parseMemberChange = (json: unknown): MemberChange => parseWith(memberChange, json)

export const memberReply = z.object({
  id: z.string(),
  object: z.literal('member'),
  name: z.string(),
  contact: z.string().nullable(),
  role,
  state: z.enum(['invited', 'active', 'removed']),
  /** True: the member of this request. */
  current: z.boolean(),
  created_at: time,
  /** Until when a code is accepted that nobody has accepted yet. */
  invitation_expires_at: time.nullable(),
  joined_at: time.nullable(),
  removed_at: time.nullable(),
})
export type MemberReply = z.infer<typeof memberReply>

/** The only reply with the code of an invitation. */
export const invitedReply = memberReply.extend({ invitation_code: z.string() })
export type InvitedReply = z.infer<typeof invitedReply>

export const acceptedReply = memberReply.extend({
  account: z.string(),
  /** The member's first token, with its secret. */
  first_token: newTokenReply,
})
export type AcceptedReply = z.infer<typeof acceptedReply>

/** Parameters of GET /v1/members. */
export const memberListQuery = z.object(pageQuery)

/** GET /v1/members: the newest first. */
export const memberList = listPageOf(memberReply)
export type MemberList = z.infer<typeof memberList>
