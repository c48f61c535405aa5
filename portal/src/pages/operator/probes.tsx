// The installation's own probe: what it asks of each component, and what came of it.
import { useQuery } from '@tanstack/react-query'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { energyExact, energyShort } from '#console/figures/energy.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord, type Tone } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { WhenOrNever } from '#console/parts/time/when.tsx'

type Component = ReplyOf<'GET /v1/probe'>['components'][number]

const ASKED_MS = 10_000
const STATES: Readonly<Record<Component['state'], { readonly tone: Tone; readonly word: string }>> =
  {
    ok: { tone: 'ok', word: 'Works' },
    failed: { tone: 'bad', word: 'Failed' },
    not_probed: { tone: 'muted', word: 'Not probed' },
  }

export function Probes() {
  const query = useQuery({ ...read('GET /v1/probe', {}), refetchInterval: ASKED_MS })
  return (
    <div className="stack wide">
      <Loaded query={query} what="the probe">
        {({ components, every_seconds: everyS }) => (
          <Section title="Probes">
            <p>
              {everyS === 0
                ? 'The probe is off: nothing is asked.'
                : `The installation asks itself as a user would, each component every ${everyS} s. This account pays.`}
            </p>
            <Table rows={components} keyOf={({ id }) => id} columns={COLUMNS} />
          </Section>
        )}
      </Loaded>
    </div>
  )
}

const COLUMNS: readonly Column<Component>[] = [
  {
    title: 'Component',
    cell: ({ name, request, reason, last, days, at }) => (
      <>
        <b>{name}</b>
        <div className="small muted">{reason ?? request}</div>
        {days.length > 0 && (
          <span className="under">
            {last !== null && `${durationOf(last)}, `}
            {failuresToday({ days })} failed today, looked at <WhenOrNever at={at} />
          </span>
        )}
      </>
    ),
  },
  { title: 'State', cell: ({ state }) => <StateWord {...STATES[state]} /> },
  {
    title: 'Took',
    className: 'num wide-only',
    cell: ({ last }) => (last === null ? '–' : durationOf(last)),
  },
  {
    title: 'Energy',
    className: 'num',
    cell: ({ last }) => (last === null ? '–' : energyShort(BigInt(last.energy_nj))),
    exact: ({ last }) => (last === null ? undefined : energyExact(BigInt(last.energy_nj))),
  },
  { title: 'Failures today', className: 'num wide-only', cell: failuresToday },
  { title: 'Looked at', className: 'wide-only', cell: ({ at }) => <WhenOrNever at={at} /> },
]

const durationOf = ({ duration_ms: ms }: NonNullable<Component['last']>): string => `${ms} ms`

function failuresToday({ days: [today] }: Pick<Component, 'days'>): string {
  return today === undefined ? '–' : `${today.failures} of ${today.probes}`
}
