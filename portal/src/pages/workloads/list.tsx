// All workloads: state, image, instances, budget, joules of today; and the passwords by which their images are pulled.
import { counted } from '#console/figures/time.ts'
import { DeployedList } from '#console/parts/resources/deployed-list.tsx'
import { EnergyToday } from '#console/parts/resources/energy-today.tsx'
import {
  BUDGET_COLUMN,
  nameColumn,
  stateColumn,
  todayColumn,
} from '#console/parts/resources/resource-columns.tsx'
import type { Column } from '#console/parts/page/table.tsx'
import { stateOf } from '#console/parts/resources/versioned.ts'
import { Head } from '#console/shell/head.tsx'
import { Registries } from './registries.tsx'
import { useWorkloads } from './use-workloads.ts'
import { shortImage, type Workload } from './workload.ts'

const FIRST = `cat > ergon.hcl <<'END'
workload "api" {
  image         = "docker.io/traefik/whoami:v1.10"
  energy_budget = "250 kJ/day"
}
END
ergon deploy`

export const List = () => (
  <>
    <Head title="Workloads" />
    <div className="stack wide">
      <DeployedList
        query={useWorkloads()}
        kind="workloads"
        columns={COLUMNS}
        first={FIRST}
        command="ergon deploy"
        label="Deploy what the description file says"
      >
        An image that runs as a container, in a folder whose <code>ergon.hcl</code> has a block{' '}
        <code>workload</code>. While it sleeps, only its stored bytes cost.
      </DeployedList>
      <Registries />
    </div>
  </>
)

const COLUMNS: readonly Column<Workload>[] = [
  nameColumn<Workload>({
    title: 'Workload',
    path: '/workloads',
    className: 'wrap-anywhere',
    stateOf,
    under: ({ instances }) => counted(instances, 'instance'),
  }),
  stateColumn<Workload>(stateOf),
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
  BUDGET_COLUMN,
  todayColumn<Workload>(({ id }) => <EnergyToday kind="workload" id={id} />),
]
