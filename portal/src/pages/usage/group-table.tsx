// The groups of a range, the most energy first, each with its part of the whole and the range before.
import { share } from '#console/figures/amounts.ts'
import { grouped } from '#console/figures/digits.ts'
import { energyExact, energyShort } from '#console/figures/energy.ts'
import { moneyExact, moneyShort } from '#console/figures/money.ts'
import { drawnAs, operationName, serviceName, type ServiceName } from '#console/parts/services.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { energyOf, useTokenNames, type GroupBy, type UsageRow } from './use-usage.ts'

/** Names of what is in no group. */
const WITHOUT: Partial<Record<GroupBy, string>> = {
  model: 'without a model',
  token: 'without a token: what runs and is stored',
  resource: 'requests and buckets',
}

export function GroupTable(props: {
  readonly rows: readonly UsageRow[]
  readonly past: readonly UsageRow[] | undefined
  readonly by: GroupBy
}) {
  const { rows, past, by } = props
  const tokens = useTokenNames()
  const whole = energyOf(rows)
  const nameOf = ({ group, name }: UsageRow): string => {
    if (group === null) return WITHOUT[by] ?? 'other'
    if (by === 'resource') return name ?? group
    if (by === 'service') return serviceName(group)
    if (by === 'operation') return operationName(group)
    return by === 'token' ? (tokens.get(group) ?? group) : group
  }
  if (rows.length === 0) return <p className="small">Nothing was used in this time.</p>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{by.charAt(0).toUpperCase() + by.slice(1)}</th>
          <th scope="col" className="num wide-only">
            Requests
          </th>
          <th scope="col" className="num">
            Energy
          </th>
          <th scope="col" className="wide-only part">
            Part
          </th>
          <th scope="col" className="num wide-only">
            Before
          </th>
          <th scope="col" className="num wide-only">
            Money
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <GroupRow
            key={row.group ?? ''}
            row={row}
            whole={whole}
            name={nameOf(row)}
            mark={by === 'service' ? drawnAs(row.group ?? 'other') : undefined}
            before={past?.find(({ group }) => group === row.group)}
          />
        ))}
      </tbody>
    </table>
  )
}

function GroupRow(props: {
  readonly row: UsageRow
  readonly whole: bigint
  readonly name: string
  /** The colour of the chart: the table names its bars. */
  readonly mark: ServiceName | undefined
  readonly before: UsageRow | undefined
}) {
  const { row, whole, name, mark, before } = props
  const nj = BigInt(row.energy_nj)
  const pusd = BigInt(row.charge_pusd)
  const unit = useUnit()
  const part = share(nj, whole)
  const width = whole === 0n ? 0 : Number((nj * 1000n) / whole) / 10
  return (
    <tr data-row>
      <td className="wrap-anywhere">
        <b className={mark === undefined ? undefined : `service-mark ${mark}`}>{name}</b>
        <span className="under">
          {grouped(BigInt(row.requests))} requests, {part}, {moneyShort(pusd, unit)}
        </span>
      </td>
      <td className="num wide-only">{grouped(BigInt(row.requests))}</td>
      <td className="num" title={energyExact(nj)} data-copy={energyExact(nj)}>
        {energyShort(nj)}
      </td>
      <td className="wide-only part">
        <span className="part-bar" aria-hidden="true">
          <span style={{ '--used': `${width}%` } as React.CSSProperties} />
        </span>
        {part}
      </td>
      <td className="num wide-only muted">{energyShort(BigInt(before?.energy_nj ?? '0'))}</td>
      <td className="num wide-only" title={moneyExact(pusd, unit)}>
        {moneyShort(pusd, unit)}
      </td>
    </tr>
  )
}
