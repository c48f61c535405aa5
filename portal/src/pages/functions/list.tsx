// All functions: state, version, budget, joules of today.
import { DeployedList } from '#console/parts/resources/deployed-list.tsx'
import { EnergyToday } from '#console/parts/resources/energy-today.tsx'
import {
  BUDGET_COLUMN,
  nameColumn,
  NONE,
  stateColumn,
  todayColumn,
} from '#console/parts/resources/resource-columns.tsx'
import type { Column } from '#console/parts/page/table.tsx'
import { stateOf } from '#console/parts/resources/versioned.ts'
import { Head } from '#console/shell/head.tsx'
import type { Deployed } from './function.ts'
import { useFunctions } from './use-functions.ts'

const DEPLOY = 'ergon fn deploy hello.ts --energy-budget "10 kJ/day"'
/** A whole function: it is deployed as it stands. */
const FIRST = `cat > hello.ts <<'END'
export default { fetch: () => new Response('hello') }
END
${DEPLOY}`

export const List = () => (
  <>
    <Head title="Functions" />
    <DeployedList
      query={useFunctions()}
      kind="functions"
      columns={COLUMNS}
      first={FIRST}
      command={DEPLOY}
      label="Deploy another"
    >
      Code that answers requests, in a process of its own. One that sleeps costs nothing.
    </DeployedList>
  </>
)

const COLUMNS: readonly Column<Deployed>[] = [
  nameColumn<Deployed>({
    title: 'Function',
    path: '/functions',
    stateOf,
    under: ({ route }) => route,
  }),
  stateColumn<Deployed>(stateOf),
  {
    title: 'Route',
    className: 'wide-only',
    cell: ({ route }) => <span className="id">{route}</span>,
  },
  {
    title: 'Version',
    className: 'num wide-only',
    cell: ({ live_version }) => live_version ?? NONE,
  },
  BUDGET_COLUMN,
  todayColumn<Deployed>(({ id }) => <EnergyToday kind="function" id={id} />),
]
