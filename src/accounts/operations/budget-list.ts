// GET /v1/budgets: the energy budgets of resources and tokens, by id.
import { dayOf } from '#base/clock.ts'
import { nj } from '#base/units.ts'
import type { BudgetEntry } from '#contract/ledger/budgets.ts'
import { printEnergyPerDay } from '#contract/values/energy-budget.ts'
import { readListPage } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Posted } from '#ledger/posted.ts'
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import type { Queryable } from '#state/connect.ts'

const CURSOR = /^[a-z]{2,4}_[0-9a-z]{26}$/
const DAY_MS = 86_400_000

const SELECT = `select b.id, coalesce(r.kind, 'token') as kind, coalesce(r.name, t.name, '') as name,
    b.nj_per_day::text as budget, budget_used_nj(b.id)::text as used, coalesce(d.is_exceeded, false) as exceeded
  from shown_budgets($1) b left join resources r on r.id = b.id left join tokens t on t.id = b.id
    left join budget_days d on d.wallet = budget_day(b.id, ledger_now())
  where b.id > $2 order by b.id limit $3`

type Row = {
  id: string
  kind: string
  name: string
  budget: string
  used: string
  exceeded: boolean
}

export const createBudgetList =
  (deps: {
    readonly state: Queryable
    readonly posted: Posted
    readonly now: () => number
  }): Handler =>
  async ({ caller, query, signal }) => {
    const page = readListPage(query(), CURSOR)
    await deps.posted(signal)
    const { rows } = await deps.state.query<Row>(SELECT, [
      callerOf({ caller }).account,
      page.cursor?.[0] ?? '',
      page.rowsMax,
    ])
    const renewedMs = Date.parse(dayOf(deps.now())) + DAY_MS
    const reply = page.list(rows, entryOf(new Date(renewedMs).toISOString()), ({ id }) => id)
    return { kind: 'known', status: 200, body: () => reply }
  }

const entryOf =
  (renewedAt: string) =>
  (row: Row): BudgetEntry => ({
    id: row.id,
    object: 'budget',
    kind: row.kind,
    name: row.name,
    energy_budget: printEnergyPerDay(nj(BigInt(row.budget))),
    budget_nj: row.budget,
    used_nj: row.used,
    state: stateOf(row),
    renewed_at: renewedAt,
  })

function stateOf({ budget, used, exceeded }: Row): BudgetEntry['state'] {
  // With less nothing is admitted.
  if (exceeded || BigInt(budget) - BigInt(used) < LEAST_HOLD_NJ) return 'exceeded'
  return BigInt(used) * 5n >= BigInt(budget) * 4n ? 'warning' : 'within'
}
