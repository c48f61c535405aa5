// Requests and replies of tokens.
import { z } from 'zod'
import { energyBudget } from '#contract/values/energy-budget.ts'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'
import { SCOPES } from '#contract/operation.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import { plainText } from '#contract/values/plain-text.ts'

export const TOKEN_DAYS_MAX = 3650
/** The longest time for which a token stays valid beside the one that replaces it. */
export const OVERLAP_MAX_S = 7 * 86_400
export const TOKEN_RATE_MAX = 1_000_000

const name = plainText(200).min(1)
const time = z.iso.datetime()
const requestsPerMinute = z.int().min(1).max(TOKEN_RATE_MAX)

export const tokenRequest = ownObject({
  /** The name by which people recognise the token. */
  name,
  scope: z.enum(SCOPES).default('read'),
  /** Without it the token is valid until it is revoked. */
  expires_days: z.number().gt(0).max(TOKEN_DAYS_MAX).optional(),
  /** At each gateway, beside the limit of the account. */
  requests_per_minute: requestsPerMinute.optional(),
  /** The most that its requests may be charged on a day of UTC. */
  energy_budget: energyBudget.optional(),
})
export type TokenRequest = z.infer<typeof tokenRequest>

/** Throws invalid_request. */
export const parseTokenRequest = (json: unknown): TokenRequest => parseWith(tokenRequest, json)

/** Null removes a limit. A budget counts the requests that begin after the answer. */
export const tokenChange = ownObject({
  requests_per_minute: requestsPerMinute.nullable().optional(),
  energy_budget: energyBudget.nullable().optional(),
}).refine(
  (change) => Object.values(change).some((value) => value !== undefined),
  'must have requests_per_minute or energy_budget',
)
export type TokenLimits = z.infer<typeof tokenChange>

/** Throws invalid_request. */
export const parseTokenChange = (json: unknown): TokenLimits => parseWith(tokenChange, json)

export const tokenRotation = ownObject({
  /** Seconds for which the old token stays valid. */
  overlap_s: z.int().min(0).max(OVERLAP_MAX_S).default(0),
})
export type TokenRotation = z.infer<typeof tokenRotation>

/** Throws invalid_request. */
export const parseTokenRotation = (json: unknown): TokenRotation => parseWith(tokenRotation, json)

export const tokenReply = z.object({
  id: z.string(),
  object: z.literal('token'),
  name: z.string(),
  /** The member that it belongs to. */
  member: z.object({ id: z.string(), name: z.string() }),
  scope: z.enum(SCOPES),
  /** The first characters of the secret. */
  hint: z.string(),
  /** True: the token of this request. */
  current: z.boolean(),
  status: z.enum(['valid', 'expired', 'revoked']),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  /** The end of its newest request that was charged. */
  last_used_at: time.nullable(),
  /** When the token was last seen in an address, where logs of others may have it. */
  exposed_at: time.nullable(),
  requests_per_minute: z.int().nullable(),
  energy_budget: z.string().nullable(),
  /** The used part of the budget, today (UTC); null without one. */
  energy_budget_used_j: z.number().min(0).nullable(),
})
export type TokenReply = z.infer<typeof tokenReply>

/** The only replies with the secret: this one, and that of a rotation. */
export const newTokenReply = tokenReply.extend({ token: z.string() })

export type NewTokenReply = z.infer<typeof newTokenReply>

export const rotatedTokenReply = newTokenReply.extend({
  /** The old token: revoked, or valid until its `expires_at`. */
  replaces: tokenReply,
})

/** Parameters of GET /v1/tokens. */
export const tokenListQuery = z.object(pageQuery)

/** GET /v1/tokens: the newest first. */
export const tokenList = listPageOf(tokenReply)
export type TokenList = z.infer<typeof tokenList>
