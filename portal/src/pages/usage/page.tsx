// Usage: who used how much, in which time, compared with the time before.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { rowsOf } from '#console/client/queries.ts'
import { carbonShort } from '#console/figures/carbon.ts'
import { energyExact } from '#console/figures/energy.ts'
import { moneyExact } from '#console/figures/money.ts'
import { figureOfSums } from '#console/figures/known.ts'
import { Bars } from '#console/parts/charts/bars.tsx'
import { Select } from '#console/parts/forms/choices.tsx'
import { Band, Known } from '#console/parts/energy/known.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import type { Range } from '#console/parts/charts/range.ts'
import { Register } from '#console/parts/energy/register.tsx'
import { saveAs } from '#console/parts/browser/save.ts'
import { Section } from '#console/parts/page/section.tsx'
import { useNow, useZone } from '#console/parts/time/zone.ts'
import { Head } from '#console/shell/head.tsx'
import { useUnit } from '#console/live/use-unit.ts'
import { changeWords, csvOf } from './compare.ts'
import { GroupTable } from './group-table.tsx'
import { narrowed, PRESETS, rangeOf, rangeWords, type Preset } from './range.ts'
import { energyOf, GROUPS, useUsage, type GroupBy, type UsageRow } from './use-usage.ts'
import './usage.css'

type Search = {
  readonly range?: string
  readonly from?: string
  readonly to?: string
  readonly by?: GroupBy
}
const EACH = { minute: 'a minute', hour: 'an hour', day: 'a day' } as const
const BY: readonly (readonly [GroupBy, string])[] = GROUPS.map((name) => [name, `By ${name}`])

export function Page() {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const now = useNow('minute')
  const range = rangeOf(search, now.getTime())
  const by = search.by ?? 'service'
  const { steps, groups, past } = useUsage(range, by, now.getTime())
  const rows = rowsOf(groups.data)
  const go = (next: Search) => void navigate({ to: '.', search: next as never, replace: true })
  const narrow = (lowMs: number, highMs: number) => {
    const { fromMs, toMs } = narrowed(lowMs, highMs)
    go({ by, from: String(fromMs / 1000), to: String(toMs / 1000) })
  }
  return (
    <>
      <Head title="Usage" />
      <div className="usage-tools">
        <div className="tools" role="group" aria-label="Time">
          {(Object.keys(PRESETS) as Preset[]).map((preset) => (
            <button
              key={preset}
              type="button"
              className="btn small"
              aria-pressed={search.from === undefined && (search.range ?? 'day') === preset}
              onClick={() => go({ by, range: preset })}
            >
              {PRESETS[preset].title}
            </button>
          ))}
        </div>
        <Select
          label="Group"
          value={by}
          options={BY}
          onChange={(next) => go({ ...search, by: next })}
        />
        <button
          type="button"
          className="btn"
          disabled={groups.data === undefined || groups.hasNextPage}
          onClick={() => saveAs('usage.csv', 'text/csv', csvOf(rows))}
        >
          Export CSV
        </button>
      </div>
      <Loaded query={groups} what="the usage">
        {() => (
          <div className="stack wide">
            <Total rows={rows} past={past} range={range} />
            <Section title={`Joules ${EACH[range.step]}`} aside="drag to see a part">
              <Bars
                rows={steps}
                range={range}
                label={`Joules ${EACH[range.step]} by service; the table below has the sums`}
                onDragged={narrow}
              />
            </Section>
            <Section title={`By ${by}`}>
              <GroupTable rows={rows} past={past} by={by} />
            </Section>
          </div>
        )}
      </Loaded>
    </>
  )
}

function Total(props: {
  readonly rows: readonly UsageRow[]
  readonly past: readonly UsageRow[] | undefined
  readonly range: Range
}) {
  const { rows, past, range } = props
  const unit = useUnit()
  const zone = useZone()
  const now = useNow('minute')
  const figure = figureOfSums(rows)
  const pusd = rows.reduce((sum, { charge_pusd }) => sum + BigInt(charge_pusd), 0n)
  const pg = rows.reduce((sum, { carbon_pg }) => sum + BigInt(carbon_pg), 0n)
  return (
    <section className="plate usage-total" aria-label="Together" data-copy={energyExact(figure.nj)}>
      <p className="small muted">{rangeWords(range, zone, now)}</p>
      <Register figure={figure} size="middle" />
      <Band figure={figure} />
      <p className="small">
        <Known figure={figure} />. <b>{moneyExact(pusd, unit)}</b>, {carbonShort(pg)}
        {past !== undefined && `, ${changeWords(figure.nj, energyOf(past))}`}
      </p>
    </section>
  )
}
