// Limits: evidence packs.
import { TOTALS_ROWS_MAX } from '#compliance/build/totals.ts'
import * as compliance from '#contract/compliance/compliance.ts'
import { TRANSFERS_MAX } from '#ledger/account-transfers.ts'
import { code, count, words, type LimitSection } from './limit.ts'

export const EVIDENCE: LimitSection = {
  title: 'Evidence packs',
  limits: [
    ['time of a pack', `${compliance.PACK_DAYS_MAX} days`, code('invalid_request')],
    [
      'packs of an account that wait or are made',
      count(compliance.PACKS_OPEN_MAX),
      code('too_many_packs'),
    ],
    ['rows of `totals.csv`', count(TOTALS_ROWS_MAX), words('the pack fails: ask for less time')],
    ['payments in a pack', count(TRANSFERS_MAX), words('the pack fails: ask for less time')],
  ],
}
