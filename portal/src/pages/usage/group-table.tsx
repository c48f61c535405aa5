// The groups of a range, the most energy first, each with its part of the whole and the range before.
import { partsOf } from '#console/figures/amounts.ts'
import { grouped } from '#console/figures/digits.ts'
import { energyExact, energyShort } from '#console/figures/energy.ts'
import { moneyExact, moneyShort } from '#console/figures/money.ts'
import { drawnAs, type ServiceName } from '#console/parts/charts/services.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { groupName, withOneSignIn, type SummedRow } from './groups.ts'
import { energyOf, type GroupBy, type UsageRow } from './use-usage.ts'

export function GroupTable(props: {
  readonly rows: readonly UsageRow[]
  readonly past: readonly UsageRow[] | undefined
  readonly by: GroupBy
}) {
  const { by } = props
  const rows = withOneSignIn(props.rows)
  const past = props.past && withOneSignIn(props.past)
  const whole = energyOf(rows)
  const parts = partsOf(rows.map(({ energy_nj }) => BigInt(energy_nj)))
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
        {rows.map((row, nth) => (
          <GroupRow
            key={row.group ?? ''}
            row={row}
            whole={whole}
            part={parts[nth] ?? ''}
            name={groupName(row, by)}
            mark={by === 'service' ? drawnAs(row.group ?? 'other') : undefined}
            before={past?.find(({ group }) => group === row.group)}
          />
        ))}
      </tbody>
    </table>
  )
}

function GroupRow(props: {
  readonly row: SummedRow
  readonly whole: bigint
  /** The share of the whole, in words. */
  readonly part: string
  readonly name: string
  /** The colour of the chart: the table names its bars. */
  readonly mark: ServiceName | undefined
  readonly before: SummedRow | undefined
}) {
  const { row, whole, part, name, mark, before } = props
  const nj = BigInt(row.energy_nj)
  const pusd = BigInt(row.charge_pusd)
  const unit = useUnit()
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
