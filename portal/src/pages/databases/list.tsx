// All databases: state, size, budget, joules of today.
import { useState } from 'react'
import { bytesShort } from '#console/figures/amounts.ts'
import { Empty } from '#console/parts/page/empty.tsx'
import { Energy } from '#console/parts/energy/energy.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import {
  BUDGET_COLUMN,
  nameColumn,
  stateColumn,
  todayColumn,
} from '#console/parts/resources/resource-columns.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { Head } from '#console/shell/head.tsx'
import { stateOf, type Database } from './database.ts'
import { NewDatabase } from './new-database.tsx'
import { useDatabases, useEnergyToday } from './use-databases.ts'

export function List() {
  const query = useDatabases()
  const [isMaking, setMaking] = useState(false)
  const make = (
    <button type="button" className="btn primary" onClick={() => setMaking(true)}>
      New database
    </button>
  )
  return (
    <>
      <Head title="Databases">{(query.data?.data.length ?? 0) > 0 && make}</Head>
      {isMaking && <NewDatabase onClose={() => setMaking(false)} />}
      <Loaded query={query} what="the list of databases">
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              title="No databases yet"
              command="ergon db create notes --size 1GB"
              action={make}
            >
              Each is a PostgreSQL server of its own, with vectors. One that sleeps costs only its
              stored bytes.
            </Empty>
          ) : (
            <Table rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Loaded>
    </>
  )
}

const COLUMNS: readonly Column<Database>[] = [
  nameColumn({
    title: 'Database',
    path: '/databases',
    stateOf,
    under: (database) => `${awakeOf(database)}, ${sizeOf(database)}`,
  }),
  stateColumn(stateOf, (database) => database.reason ?? awakeOf(database)),
  { title: 'Size', className: 'num wide-only', cell: (database) => sizeOf(database) },
  BUDGET_COLUMN,
  todayColumn((database) => <EnergyToday database={database} />),
]

const awakeOf = ({ last_awake }: Database): string => (last_awake?.to === null ? 'awake' : 'asleep')

const sizeOf = ({ stored_bytes, size_bytes }: Database): string =>
  `${bytesShort(BigInt(stored_bytes))} of ${bytesShort(BigInt(size_bytes))}`

function EnergyToday({ database }: { readonly database: Database }) {
  const energy = useEnergyToday(database).data
  if (energy === undefined) return null
  return <Energy nj={BigInt(energy.energy_nj)} />
}
