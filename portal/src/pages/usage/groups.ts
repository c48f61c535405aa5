// The groups of a range as people know them: names in place of ids, and all sign-ins of the portal as one.
import { operationName, serviceName } from '#console/parts/charts/services.ts'
import type { GroupBy, UsageRow } from './use-usage.ts'

/** Names of what is in no group. */
const WITHOUT: Partial<Record<GroupBy, string>> = {
  model: 'without a model',
  token: 'without a token: what runs and is stored',
  resource: 'requests and buckets',
}
/** The group of all sign-ins: each has an id, which no page shows. */
const SIGN_INS = 'sign-ins'

type NamedRow = Pick<UsageRow, 'group' | 'kind' | 'name'>
export type SummedRow = NamedRow & Pick<UsageRow, 'requests' | 'energy_nj' | 'charge_pusd'>

export function groupName({ group, kind, name }: NamedRow, by: GroupBy): string {
  if (group === null) return WITHOUT[by] ?? 'other'
  if (by === 'service') return serviceName(group)
  if (by === 'operation') return operationName(group)
  if (kind === 'session') return 'sign-ins at the portal'
  if (kind === 'account') return 'the account itself: what its webhooks send'
  return name ?? group
}

/** The sign-ins as one group in its place: the most energy first. */
export function withOneSignIn(rows: readonly UsageRow[]): readonly SummedRow[] {
  const [first, ...more] = rows.filter(({ kind }) => kind === 'session')
  if (first === undefined) return rows
  const signIns = more.reduce<SummedRow>(
    (sum, row) => ({
      ...sum,
      requests: sum.requests + row.requests,
      energy_nj: String(BigInt(sum.energy_nj) + BigInt(row.energy_nj)),
      charge_pusd: String(BigInt(sum.charge_pusd) + BigInt(row.charge_pusd)),
    }),
    { ...first, group: SIGN_INS },
  )
  return [...rows.filter(({ kind }) => kind !== 'session'), signIns].toSorted((a, b) =>
    Number(BigInt(b.energy_nj) - BigInt(a.energy_nj)),
  )
}
