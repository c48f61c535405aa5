// Limits: usage and receipts.
import { EXPIRES_MAX_S } from '#contract/storage/presign.ts'
import { USAGE_DAYS_MAX, USAGE_STEP_DAYS_MAX } from '#contract/accounts/usage-range.ts'
import { code, count, seconds, type LimitSection } from './limit.ts'

export const ACCOUNT: LimitSection = {
  title: 'Usage and receipts',
  limits: [
    [
      'days between `from` and `to` of `GET /v1/usage`',
      count(USAGE_DAYS_MAX),
      code('invalid_request'),
    ],
    ['the same with `step=hour`', count(USAGE_STEP_DAYS_MAX.hour), code('invalid_request')],
    ['the same with `step=minute`', count(USAGE_STEP_DAYS_MAX.minute), code('invalid_request')],
    [
      'life of an address of `POST /v1/storage/presigned`',
      seconds(EXPIRES_MAX_S * 1000),
      code('invalid_request'),
    ],
  ],
}
