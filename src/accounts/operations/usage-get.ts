// GET /v1/usage: what the account used, summed from its charges. As usage/last it waits until what was answered before
// this call is posted.
import { countedWork } from '#charging/counted-work.ts'
import type { Posted } from '#ledger/posted.ts'
import { nj, pg, printJoules, printMilligrams } from '#base/units.ts'
import { bandOfWeight } from '#contract/ledger/known.ts'
import { rawNumber } from '#contract/values/raw-json.ts'
import { readListPage } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import { readUsage, type UsageRow } from '#ledger/usage.ts'
import { callerOf } from '#identity/principal.ts'
import { namedGroups, type GroupNames } from '#accounts/group-names.ts'
import { readUsageQuery } from '#accounts/usage-query.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'

const CURSOR = /^[\w-]{1,2000}$/

export function createUsageGet(deps: {
  state: Pick<State, 'query' | 'transaction'>
  posted: Posted
  now: () => number
}): Handler {
  return async ({ caller, query: queryOf, signal, spend }) => {
    const query = queryOf()
    const page = readListPage(query, CURSOR)
    const asked = readUsageQuery(query, deps.now())
    await deps.posted(signal)
    const { from, to, group, groupBy, step, filter, offset } = asked
    const { account, env } = callerOf({ caller })
    const span = { account, from, to }
    // Steps are for charts, which draw no band.
    const bands = step === undefined
    const rows = { offset, limit: page.rowsMax, ...(!bands && { step }), filter, bands }
    const { rows: found } = await countedWork(
      spend,
      () => inSnapshot(deps.state, (snapshot) => readUsage(snapshot, span, group, rows)),
      ({ summed }) => summed - 1,
    )
    const named = await namedGroups(deps.state, { account, groupBy, ids: idsOf(page.of(found)) })
    const next = page.next(found, () => asked.cursorAt(offset + page.limit))
    return {
      kind: 'known',
      status: 200,
      body: () =>
        JSON.stringify({
          object: 'list',
          from: from.toISOString(),
          to: to.toISOString(),
          group_by: groupBy,
          unit: env === 'test' ? 'tUSD' : 'USD',
          ...(step !== undefined && { step }),
          data: page.of(found).map((row) => toEntry(row, { named, bands })),
          has_more: next !== null,
          next_cursor: next,
        }),
    }
  }
}

const idsOf = (rows: readonly UsageRow[]): string[] =>
  rows.flatMap(({ group }) => (group === null ? [] : [group]))

type EntryOptions = {
  readonly named: GroupNames | undefined
  readonly bands: boolean
}

const toEntry = (row: UsageRow, { named, bands }: EntryOptions) => ({
  ...(row.at !== null && { at: row.at.toISOString() }),
  group: row.group,
  ...named?.(row.group),
  requests: Number(row.requests),
  energy_j: rawNumber(printJoules(nj(BigInt(row.energy)))),
  carbon_mg: rawNumber(printMilligrams(pg(BigInt(row.carbon)))),
  energy_nj: row.energy,
  carbon_pg: row.carbon,
  measured_nj: row.measured,
  ...(bands && { band_pct: bandOf(row) }),
  charge_pusd: row.charge,
})

const bandOf = ({ energy, weight }: UsageRow): number | null =>
  weight === null ? null : bandOfWeight(BigInt(energy), BigInt(weight))
