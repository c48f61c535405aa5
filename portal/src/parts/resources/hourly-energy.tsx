// The joules of a resource by the hour, as bars and as a table.
import type { UseQueryResult } from '@tanstack/react-query'
import { moneyShort } from '#console/figures/money.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { Bars } from '#console/parts/charts/bars.tsx'
import { Energy } from '#console/parts/energy/energy.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { STEP_MS, type Range } from '#console/parts/charts/range.ts'
import { Section } from '#console/parts/page/section.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { TimeHead, When } from '#console/parts/time/when.tsx'
import type { ServiceName } from '#console/parts/charts/services.ts'
import type { ReplyOf } from '#console/client/operations.ts'

type Energies = Pick<
  ReplyOf<'GET /v1/workloads/:workload/energy'>,
  'from' | 'to' | 'energy_nj' | 'charge_pusd' | 'data'
>
type Hour = Energies['data'][number]

export const HourlyEnergy = (props: {
  /** The energy of the last 24 hours. */
  readonly query: UseQueryResult<Energies>
  readonly service: ServiceName
}) => (
  <Section title="Joules an hour" aside="the last 24 hours">
    <Loaded query={props.query} what="the energy by the hour">
      {(energy) => <Hours energy={energy} service={props.service} />}
    </Loaded>
  </Section>
)

function Hours({ energy, service }: { readonly energy: Energies; readonly service: ServiceName }) {
  const unit = useUnit()
  const money: Column<Hour> = {
    title: 'Cost',
    className: 'num',
    cell: ({ charge_pusd }) => moneyShort(BigInt(charge_pusd), unit),
  }
  return (
    <div className="stack">
      <Bars
        rows={energy.data.map((hour) => ({ ...hour, group: service }))}
        range={hoursOf(energy)}
        label="Joules an hour; the table below has the same figures"
      />
      <details className="small">
        <summary>
          <Energy nj={BigInt(energy.energy_nj)} />, {moneyShort(BigInt(energy.charge_pusd), unit)},
          by the hour
        </summary>
        <Table
          rows={energy.data.toReversed()}
          keyOf={({ at }) => at}
          columns={[...COLUMNS, money]}
        />
      </details>
    </div>
  )
}

/** Whole hours, so that the last one is the one that runs. */
function hoursOf({ from, to }: Energies): Range {
  const hour = (time: string) => Math.ceil(Date.parse(time) / STEP_MS.hour) * STEP_MS.hour
  return { fromMs: hour(from) - STEP_MS.hour, toMs: hour(to), step: 'hour' }
}

const COLUMNS: readonly Column<Hour>[] = [
  { title: <TimeHead />, cell: ({ at }) => <When at={at} inColumn /> },
  { title: 'Energy', className: 'num', cell: ({ energy_nj }) => <Energy nj={BigInt(energy_nj)} /> },
]
