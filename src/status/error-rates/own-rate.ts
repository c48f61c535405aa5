// The account's own row of the status page, with exact counts.
import type { ErrorRate } from '#contract/accounts/error-rate.ts'
import { RATE_HOURS, RATE_REQUESTS_LEAST } from '#contract/accounts/error-rate-limits.ts'
import type { Queryable } from '#state/connect.ts'

const RATE = `
  select (select name from public_names where account = $1) as name,
    coalesce(sum(requests), 0)::text as requests, coalesce(sum(failures), 0)::text as failures
  from account_hours where account = $1 and hour > ledger_now() - interval '${RATE_HOURS} hours'`

export async function errorRateOf(state: Queryable, account: string): Promise<ErrorRate> {
  const { rows } = await state.query<{ name: string | null; requests: string; failures: string }>(
    RATE,
    [account],
  )
  const requests = Number(rows[0]?.requests ?? 0)
  return {
    object: 'error_rate',
    public_name: rows[0]?.name ?? null,
    hours: RATE_HOURS,
    requests,
    failures: Number(rows[0]?.failures ?? 0),
    shown: requests >= RATE_REQUESTS_LEAST,
    requests_least: RATE_REQUESTS_LEAST,
  }
}
