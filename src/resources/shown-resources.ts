// Resources of one kind as the API shows them: the rows of an account, and the fields that all kinds have.
import { nj, printJoules } from '#base/units.ts'
import { printEnergyPerDay } from '#contract/values/energy-budget.ts'
import { fault, type Code } from '#contract/errors.ts'
import { CHANGE_UNDER_WAY, HELD_WORDS } from '#contract/resources/passing-reasons.ts'
import type { Queryable } from '#state/connect.ts'
import { notFoundWords } from './not-found.ts'
import type { HeldFor } from './resource.ts'

export type ShownResource = {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly region: string
  readonly actual: string
  readonly reason: string | null
  readonly held: HeldFor
  readonly is_pending: boolean
  readonly nj_per_day: string | null
  readonly used_nj: string
  readonly created_at: Date
}

export interface ShownResources<Row, Settings, Reply extends object = object> {
  readonly kind: string
  of(state: Queryable, account: string): Promise<Row[]>
  /** The row of a resource by its id or its name. */
  named(state: Queryable, account: string, wanted: string): Promise<Row | undefined>
  /** Throws the error of a resource that is not there. */
  find(state: Queryable, account: string, wanted: string): Promise<Row>
  readonly replyOf: (row: Row, settings: Settings) => Reply
}

/** `columns` and `joins` are SQL of the product's own fields; the resource is `n`. */
export function shownResources<Row extends ShownResource, Settings, Reply extends object>(given: {
  readonly kind: string
  readonly notFound: Code
  readonly columns: string
  readonly joins: string
  readonly replyOf: (row: Row, settings: Settings) => Reply
}): ShownResources<Row, Settings, Reply> {
  const { kind, notFound, columns, joins, replyOf } = given
  const read = async (state: Queryable, account: string, wanted: string | null) => {
    const { rows } = await state.query<Row>(
      `select n.id, n.account, n.name, n.region, n.actual, n.reason, n.held, n.created_at,
         n.reached_revision < n.revision as is_pending, b.nj_per_day::text, budget_used_nj(n.id)::text as used_nj, ${columns}
       from resources n left join budgets b using (id) ${joins}
       where n.account = $1 and n.kind = $2 and n.desired <> 'deleted' and ($3::text is null or n.id = $3 or n.name = $3)
       order by n.id`,
      [account, kind, wanted],
    )
    return rows
  }
  const named: ShownResources<Row, Settings, Reply>['named'] = async (state, account, wanted) =>
    (await read(state, account, wanted))[0]
  return {
    kind,
    replyOf,
    of: (state, account) => read(state, account, null),
    named,
    async find(state, account, wanted) {
      const row = await named(state, account, wanted)
      if (row !== undefined) return row
      throw fault(notFound, await notFoundWords(state, { account, kind, wanted }))
    },
  }
}

/** Statuses that do not say by themselves that there is work. */
const IS_MADE: ReadonlySet<string> = new Set(['deployed', 'crash_loop', 'suspended'])
/** The fields that all kinds have, except the status. */
export const sharedFields = (row: ShownResource) => ({
  id: row.id,
  name: row.name,
  region: row.region,
  energy_budget: row.nj_per_day === null ? null : printEnergyPerDay(nj(BigInt(row.nj_per_day))),
  energy_budget_used_j:
    row.nj_per_day === null ? null : Number(printJoules(nj(BigInt(row.used_nj)))),
  reason: reasonOf(row),
  created_at: row.created_at.toISOString(),
})

/** The reason why the status differs from the wanted one. */
function reasonOf({ reason, held, is_pending: isPending, actual }: ShownResource): string | null {
  if (reason !== null) return reason
  if (held !== null) return HELD_WORDS[held]
  return isPending && IS_MADE.has(actual) ? CHANGE_UNDER_WAY : null
}

export type ShownVersions = {
  readonly version: number
  readonly versions: readonly { readonly version: number; readonly failure: string | null }[]
}

/** Why the wanted version is not live; of a suspended resource the other reasons say more. */
export function failedVersion(
  { actual, version, versions }: Pick<ShownResource, 'actual'> & ShownVersions,
  words: string,
): { readonly reason?: string } {
  const { failure = null } = versions.find((one) => one.version === version) ?? {}
  if (actual === 'suspended' || failure === null) return {}
  return { reason: `version ${version} ${words}: ${failure}` }
}
