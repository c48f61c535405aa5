// All workloads: state, image, instances, budget, joules of today.
import { Link } from '@tanstack/react-router'
import { counted } from '#console/figures/time.ts'
import { Command } from '#console/parts/copy.tsx'
import { Empty } from '#console/parts/empty.tsx'
import { Loaded } from '#console/parts/loaded.tsx'
import { StateWord } from '#console/parts/state-word.tsx'
import { Table, type Column } from '#console/parts/table.tsx'
import { EnergyToday } from '#console/parts/energy-today.tsx'
import { stateOf } from '#console/parts/versioned.ts'
import { Head } from '#console/shell/head.tsx'
import { useWorkloads } from './use-workloads.ts'
import { shortImage, type Workload } from './workload.ts'

const DEPLOY = 'ergon deploy'

export function List() {
  const query = useWorkloads()
  return (
    <>
      <Head title="Workloads" />
      <Loaded query={query} what="the list of workloads">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No workloads yet" command={DEPLOY}>
              An image that runs as a container, in a folder whose <code>ergon.hcl</code> has a
              block <code>workload</code>. One that sleeps costs nothing.
            </Empty>
          ) : (
            <div className="stack wide">
              <Table rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
              <Command label="Deploy what the description file says" text={DEPLOY} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}

const COLUMNS: readonly Column<Workload>[] = [
  {
    title: 'Workload',
    className: 'wrap-anywhere',
    cell: (one) => (
      <>
        <Link to={`/workloads/${one.name}`}>
          <b>{one.name}</b>
        </Link>
        <span className="under">
          {stateOf(one).word}, {counted(one.instances, 'instance')}
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
  {
    title: 'Image',
    className: 'wide-only wrap-anywhere',
    cell: ({ image }) => (
      <span className="id" title={image}>
        {shortImage(image)}
      </span>
    ),
  },
  { title: 'Instances', className: 'num wide-only', cell: ({ instances }) => instances },
  {
    title: 'Budget a day',
    className: 'num wide-only',
    cell: ({ energy_budget }) => energy_budget ?? <span className="muted">none</span>,
  },
  {
    title: 'Joules today',
    className: 'num',
    cell: ({ id }) => <EnergyToday kind="workload" id={id} />,
  },
]
