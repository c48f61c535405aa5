// GET /v1/account/error-rate: the account's own row of the status page, with exact counts.
// PUT /v1/account/public-name: another name for it.
import type { ErrorRate } from '#contract/error-rate.ts'
import { RATE_HOURS, RATE_REQUESTS_LEAST } from '#contract/error-rate-limits.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable, State } from '#state/connect.ts'

const RATE = `
  select (select name from public_names where account = $1) as name,
    coalesce(sum(requests), 0)::text as requests, coalesce(sum(failures), 0)::text as failures
  from account_hours where account = $1 and hour > ledger_now() - interval '${RATE_HOURS} hours'`

export const createErrorRateGet =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller }) => {
    const reply = await rateOf(state, callerOf({ caller }).account)
    return { kind: 'known', status: 200, body: () => reply }
  }

export const createPublicNameRenew =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { account } = callerOf(call)
    await state.transaction(async (transaction) => {
      await transaction.query('select renew_public_name($1)', [account])
      await recordAct(transaction, call, { action: 'public-name.renew', target: account })
    })
    const reply = await rateOf(state, account)
    return { kind: 'known', status: 200, body: () => reply }
  }

async function rateOf(state: Queryable, account: string): Promise<ErrorRate> {
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
