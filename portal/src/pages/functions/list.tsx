// All functions: state, version, budget, joules of today.
import { Link } from '@tanstack/react-router'
import { Command } from '#console/parts/copy.tsx'
import { Empty } from '#console/parts/empty.tsx'
import { Loaded } from '#console/parts/loaded.tsx'
import { StateWord } from '#console/parts/state-word.tsx'
import { Table, type Column } from '#console/parts/table.tsx'
import { EnergyToday } from '#console/parts/energy-today.tsx'
import { stateOf } from '#console/parts/versioned.ts'
import { Head } from '#console/shell/head.tsx'
import type { Deployed } from './function.ts'
import { useFunctions } from './use-functions.ts'

const DEPLOY = 'ergon fn deploy hello.ts --energy-budget "10 kJ/day"'

export function List() {
  const query = useFunctions()
  return (
    <>
      <Head title="Functions" />
      <Loaded query={query} what="the list of functions">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No functions yet" command={DEPLOY}>
              Code that answers requests, in a process of its own. One that sleeps costs nothing.
            </Empty>
          ) : (
            <div className="stack wide">
              <Table rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
              <Command label="Deploy another" text={DEPLOY} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}

const COLUMNS: readonly Column<Deployed>[] = [
  {
    title: 'Function',
    cell: (one) => (
      <>
        <Link to={`/functions/${one.name}`}>
          <b>{one.name}</b>
        </Link>
        <span className="under">
          {stateOf(one).word}, {one.route}
        </span>
      </>
    ),
  },
  {
    title: 'State',
    className: 'wide-only',
    cell: (one) => (
      <>
        <StateWord {...stateOf(one)} />
        {one.reason !== null && <span className="tiny reason">{one.reason}</span>}
      </>
    ),
  },
  { title: 'Route', className: 'wide-only id', cell: ({ route }) => route },
  {
    title: 'Version',
    className: 'num wide-only',
    cell: ({ live_version }) => live_version ?? <span className="muted">none</span>,
  },
  {
    title: 'Budget a day',
    className: 'num wide-only',
    cell: ({ energy_budget }) => energy_budget ?? <span className="muted">none</span>,
  },
  {
    title: 'Joules today',
    className: 'num',
    cell: ({ id }) => <EnergyToday kind="function" id={id} />,
  },
]
