// The operator's operations on accounts, funds and tokens.
import { z } from 'zod'
import type { ControlTable } from '#contract/control-operation.ts'
import { operatorKeyed } from '#contract/operator/operator-keyed.ts'
import { SCOPES } from '#contract/operation.ts'
import { memberInvitation } from './members.ts'
import { accountSuspension } from '#contract/operator/operator.ts'
import { ownObject } from '#contract/values/own-object.ts'

const wholePusd = z.string().regex(/^\d+$/)
const time = z.string().nullable()
const scope = z.enum(SCOPES)

const token = z.strictObject({
  id: z.string(),
  account: z.string(),
  member: z.string(),
  hint: z.string(),
  name: z.string(),
  scope,
  created_at: z.string(),
  expires_at: time,
  revoked_at: time,
  exposed_at: time,
  last_used_at: time,
})

const newToken = ownObject({
  /** Default: the oldest account. */
  account: z.string().optional(),
  scope: scope.default('read'),
  name: z.string().max(200).default('from the command line'),
  expires_days: z.number().gt(0).max(3650).optional(),
})
const made = { id: z.string(), account: z.string(), scope }

export const ACCOUNTS_CONTROL = {
  'account.list': {
    request: ownObject({}),
    answer: z.array(
      z.strictObject({
        id: z.string(),
        env: z.enum(['live', 'test']),
        funded: z.boolean(),
        created_at: z.string(),
        refuse_token_presign: z.boolean(),
        balance_pusd: z.string(),
        /** The part of it that running work holds, as in the balance: without grace and retention. */
        reserved_pusd: z.string(),
        /** deleting: it was asked for, and may have begun. */
        status: z.enum(['active', 'suspended', 'deleting', 'deleted']),
      }),
    ),
  },
  'account.create': {
    request: ownObject({ env: z.enum(['live', 'test']).default('test') }),
    answer: z.strictObject({ id: z.string() }),
  },
  'account.set': {
    request: ownObject({ account: z.string(), refuse_token_presign: z.boolean() }),
    answer: z.strictObject({ account: z.string(), refuse_token_presign: z.boolean() }),
  },
  'account.suspend': {
    request: ownObject({ account: z.string(), reason: accountSuspension.shape.reason }),
    answer: z.strictObject({ account: z.string(), suspended: z.literal(true) }),
  },
  'account.resume': {
    request: ownObject({ account: z.string() }),
    answer: z.strictObject({ account: z.string(), suspended: z.literal(false) }),
  },
  /** Test money for a test account. */
  'funds.add': {
    request: ownObject({
      account: z.string(),
      pusd: z.string().regex(/^[1-9]\d{0,20}$/, 'must be a whole number of pUSD, as text'),
      ...operatorKeyed,
    }),
    answer: z.strictObject({
      account: z.string(),
      added_pusd: wholePusd,
      unit: z.literal('tUSD'),
    }),
  },
  /** A member is invited by the operator: a new owner where those of before have lost their tokens. */
  'member.invite': {
    request: ownObject({
      ...memberInvitation.shape,
      account: z.string(),
      role: memberInvitation.shape.role.default('owner'),
    }),
    answer: z.strictObject({ id: z.string(), account: z.string(), invitation_code: z.string() }),
  },
  'token.list': { request: ownObject({}), answer: z.array(token) },
  'token.create': { request: newToken, answer: z.strictObject({ ...made, token: z.string() }) },
  /** The same, as an access key and its secret in place of the token. */
  'token.create-pair': {
    request: newToken,
    answer: z.strictObject({ ...made, access_key_id: z.string(), secret_access_key: z.string() }),
  },
  'token.revoke': {
    request: ownObject({ token: z.string() }),
    answer: z.strictObject({ id: z.string(), revoked: z.literal(true) }),
  },
} satisfies ControlTable
