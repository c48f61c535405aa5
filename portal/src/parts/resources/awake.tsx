// The day of a resource as a band: when it was awake, and the causes.
import type { UseQueryResult } from '@tanstack/react-query'
import { left, tableTime } from '#console/figures/time.ts'
import { DayBand } from '#console/parts/charts/day-band.tsx'
import {
  lengthOf,
  sleptWords,
  spansOf,
  wokenWords,
  type Interval,
  type Wakers,
} from './intervals.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import type { ServiceName } from '#console/parts/charts/services.ts'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { useNow } from '#console/parts/time/zone.ts'

const DAY_MS = 86_400_000

export function Awake(props: {
  /** Its intervals of this day of UTC. */
  readonly query: UseQueryResult<{ readonly data: readonly Interval[] }>
  readonly service: ServiceName
  readonly wakers: Wakers
  /** What sleep and wake mean for it. */
  readonly aside: string
}) {
  const { query, service, wakers, aside } = props
  const now = useNow('minute').getTime()
  const nowMs = now % DAY_MS
  return (
    <Section title="Awake today" aside={aside}>
      <Loaded query={query} what="the day">
        {({ data }) => {
          const spans = spansOf(data, { dayMs: now - nowMs, nowMs: now, wakers })
          const awakeMs = lengthOf(spans)
          const words = awakeMs === 0 ? 'Not awake yet today' : `Awake for ${left(awakeMs)}`
          return (
            <div className="stack">
              <DayBand
                spans={spans}
                nowMs={nowMs}
                service={service}
                label={`${words}, by hours of UTC`}
              />
              <details className="small">
                <summary>{words}, by what woke it</summary>
                <Table
                  rows={data}
                  keyOf={({ from, to }) => `${from} ${to}`}
                  columns={columnsOf(now, wakers)}
                />
              </details>
            </div>
          )
        }}
      </Loaded>
    </Section>
  )
}

const columnsOf = (nowMs: number, wakers: Wakers): readonly Column<Interval>[] => {
  const timeOf = (time: string | null) =>
    time === null ? 'now' : tableTime(new Date(time), 'UTC', new Date(nowMs))
  return [
    {
      title: 'From, UTC',
      cell: (one) => (
        <>
          {timeOf(one.from)}
          <span className="under">then {sleptWords(one)}</span>
        </>
      ),
    },
    { title: 'To, UTC', className: 'wide-only', cell: ({ to }) => timeOf(to) },
    { title: 'Woken by', cell: (one) => wokenWords(one, wakers) },
    { title: 'Then', className: 'wide-only', cell: sleptWords },
    {
      title: 'Awake for',
      className: 'num',
      cell: ({ from, to }) =>
        left(Math.max(0, (to === null ? nowMs : Date.parse(to)) - Date.parse(from))),
    },
  ]
}
