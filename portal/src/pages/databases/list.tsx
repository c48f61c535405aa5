// All databases: state, size, budget, joules of today.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { bytesShort } from '../../figures/amounts.ts'
import { energyExact, energyShort } from '../../figures/energy.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { StateWord } from '../../parts/state-word.tsx'
import { Head } from '../../shell/head.tsx'
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
            <Table databases={data} />
          )
        }
      </Loaded>
    </>
  )
}

const Table = ({ databases }: { readonly databases: readonly Database[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Database</th>
        <th scope="col" className="wide-only">
          State
        </th>
        <th scope="col" className="num wide-only">
          Size
        </th>
        <th scope="col" className="num wide-only">
          Budget a day
        </th>
        <th scope="col" className="num">
          Joules today
        </th>
      </tr>
    </thead>
    <tbody>
      {databases.map((database) => (
        <Row key={database.id} database={database} />
      ))}
    </tbody>
  </table>
)

function Row({ database }: { readonly database: Database }) {
  const energy = useEnergyToday(database)
  const { name, energy_budget, reason } = database
  const state = stateOf(database)
  const nj = energy.data === undefined ? undefined : BigInt(energy.data.energy_nj)
  const size = `${bytesShort(BigInt(database.stored_bytes))} of ${bytesShort(BigInt(database.size_bytes))}`
  return (
    <tr data-row>
      <td>
        <Link to={`/databases/${name}`}>
          <b>{name}</b>
        </Link>
        <span className="under">
          {state.word}, {size}
        </span>
      </td>
      <td className="wide-only">
        <StateWord {...state} />
        {reason !== null && <span className="tiny reason">{reason}</span>}
      </td>
      <td className="num wide-only">{size}</td>
      <td className="num wide-only">
        {energy_budget === null ? <span className="muted">none</span> : energy_budget}
      </td>
      <td className="num" {...(nj !== undefined && { 'data-copy': energyExact(nj) })}>
        {nj !== undefined && <span title={energyExact(nj)}>{energyShort(nj)}</span>}
      </td>
    </tr>
  )
}
