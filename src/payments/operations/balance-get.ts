// GET /v1/balance: the money of the account after all that was answered before the call.
import { present } from '#base/errors.ts'
import { accountRow } from '#payments/account-row.ts'
import type { Handler } from '#http/reply.ts'
import type { Posted } from '#ledger/posted.ts'
import type { Queryable } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

/** One statement, so one snapshot: the lots add up to the balance. */
const BALANCE = `
  select coalesce(w.posted, 0)::text as posted,
    coalesce(w.reserved - w.kept, 0)::text as reserved,
    (select coalesce(sum(amount), 0)::text from reserves where wallet = w.id and kind = 'grace') as grace,
    (select coalesce(sum(amount), 0)::text from reserves where wallet = w.id and kind = 'retention') as retention,
    greatest(0, coalesce((select posted from wallets where id = lease_wallet('free:' || a.id, now())),
      (select free_tier_nj from current_price())))::text as free_left,
    a.depleted_at, coalesce((w.posted - w.reserved), 0)::text as available,
    coalesce((select json_agg(json_build_object('kind', l.kind, 'remaining_pusd', l.remaining::text,
        'expires_at', to_char(coalesce(l.expires_at, c.expires_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'reference', nullif(l.reference, '')) order by l.priority, l.expires_at nulls last, l.created_at, l.id)
      from lots l left join pending_credits c on c.lot = l.id and c.state = 'pending'
      where l.wallet = w.id and l.remaining > 0), '[]') as lots
  from accounts a left join wallets w on w.id = 'money:' || a.id where a.id = $1`

type Row = {
  posted: string
  reserved: string
  available: string
  grace: string
  retention: string
  free_left: string
  depleted_at: Date | null
  lots: unknown
}

export function createBalanceGet(deps: {
  readonly state: Queryable
  readonly posted: Posted
  readonly topUpUrl: string
}): Handler {
  return async ({ caller, signal }) => {
    await deps.posted(signal)
    const { rows } = await deps.state.query<Row>(BALANCE, [callerOf({ caller }).account])
    const row = present(rows[0], 'the account of a token is there')
    const known = await accountRow(deps.state, callerOf({ caller }).account)
    const { unit, funded, low_water_pusd: lowWater, auto_topup: automatic } = known
    const reply = {
      object: 'balance',
      unit,
      balance_pusd: row.posted,
      reserved_pusd: row.reserved,
      grace_pusd: row.grace,
      retention_pusd: row.retention,
      available_pusd: row.available,
      depleted_since: row.depleted_at?.toISOString() ?? null,
      funded,
      free_left_nj: funded ? null : row.free_left,
      low_water_pusd: lowWater,
      auto_topup: automatic,
      top_up_url: deps.topUpUrl,
      lots: row.lots,
    }
    return { kind: 'known', status: 200, body: () => reply }
  }
}
