// The energy that the ledger has charged, of all accounts together: each charge once, bundled ones included.
import { sleep, systemClock, type Clock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import type { ChargedSums } from '#contract/node/control.ts'
import type { Queryable } from '#state/connect.ts'

// The audit has summed all charges but the newest, and bundles only what it has summed. One statement: one snapshot.
const SUMS = `
  with today as materialized (
    select date_trunc('day', ledger_now(), 'UTC') as begins
  ), fresh as materialized (
    select account, energy_nj, to_at from charges where leaf_index >= (select audited from books)
  ), sums as (
    select account, charges, energy_nj from audited_accounts
    union all select account, 1, energy_nj from fresh
  ), day as (
    select requests, energy_nj from usage_hours
    where hour >= (select begins from today) and account <> 'nobody'
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

/** Open pages ask each ten seconds, each of them. */
const KEPT_MS = 9000
const WAIT_MS = 1000

/**
 * The sums, read by one statement at a time and kept for some seconds. Null where they fail or take longer than a second:
 * the answer says without them whether the books are halted.
 */
export function createChargedReader(
  state: Queryable,
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
): () => Promise<ChargedSums | null> {
  let kept: { readonly sums: ChargedSums; readonly atMs: number } | undefined
  let reading: Promise<ChargedSums> | undefined
  const read = async (): Promise<ChargedSums> => {
    const sums = await chargedSums(state)
    kept = { sums, atMs: clock.monotonicMs() }
    return sums
  }
  return async () => {
    if (kept !== undefined && clock.monotonicMs() - kept.atMs < KEPT_MS) return kept.sums
    reading ??= read().finally(() => (reading = undefined))
    const late = sleep(WAIT_MS).then(() => null)
    return await Promise.race([reading, late]).catch(() => null)
  }
}

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
