// The energy that the ledger has charged, of all accounts together: each charge once, bundled ones included.
import { present } from '#base/errors.ts'
import type { ChargedSums } from '#contract/control/node.ts'
import type { Queryable } from '#state/connect.ts'

// The audit has summed all charges but the newest, and bundles only what it has summed. An account at a time, as an index by hours
// alone is not there. One statement: one snapshot.
const SUMS = `
  with today as materialized (
    select date_trunc('day', ledger_now(), 'UTC') as begins
  ), fresh as materialized (
    select account, energy_nj, to_at from charges where leaf_index >= (select audited from books)
  ), sums as (
    select account, charges, energy_nj from audited_accounts
    union all select account, 1, energy_nj from fresh
  ), day as (
    select u.requests, u.energy_nj from today, audited_accounts a cross join lateral (
      select requests, energy_nj from usage_hours where account = a.account and hour >= today.begins) u
    where a.account <> 'nobody'
    union all select 1, energy_nj from fresh, today where account <> 'nobody' and to_at >= begins
  )
  select a.*, d.* from (
    select coalesce(sum(charges) filter (where account <> 'nobody'), 0)::text as all_charges,
      coalesce(sum(energy_nj) filter (where account <> 'nobody'), 0)::text as all_nj,
      coalesce(sum(charges) filter (where account = 'nobody'), 0)::text as nobody_charges,
      coalesce(sum(energy_nj) filter (where account = 'nobody'), 0)::text as nobody_nj
    from sums) a, (
    select coalesce(sum(requests), 0)::text as day_charges, coalesce(sum(energy_nj), 0)::text as day_nj from day) d`

type Row = Readonly<Record<`${'all' | 'day' | 'nobody'}_${'charges' | 'nj'}`, string>>

/** Rejects when the state does not answer. */
export async function chargedSums(state: Queryable): Promise<ChargedSums> {
  const { rows } = await state.query<Row>(SUMS)
  const row = present(rows[0], 'the sums have a row')
  return {
    day: { charges: row.day_charges, energy_nj: row.day_nj },
    all: { charges: row.all_charges, energy_nj: row.all_nj },
    nobody: { charges: row.nobody_charges, energy_nj: row.nobody_nj },
  }
}
