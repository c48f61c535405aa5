// The queries that took longest, each with its part of the energy of the server, and the server at rest.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import { grouped } from '#console/figures/digits.ts'
import { energyExact, energyShort } from '#console/figures/energy.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { When } from '#console/parts/time/when.tsx'
import type { Database } from './database.ts'
import { emptyWords, shareRows, type QueryShare } from './query-shares.ts'

/** The service reads the queries of a server as often. */
const AGAIN_MS = 30_000

export function Queries({ database }: { readonly database: Database }) {
  const query = useQuery({
    ...read('GET /v1/databases/:database/queries', { path: { database: database.id } }),
    refetchInterval: database.last_awake?.to === null ? AGAIN_MS : false,
  })
  const { from, to } = query.data ?? {}
  return (
    <Section
      title="Where the joules go"
      aside={
        from && to ? (
          <>
            estimated by execution time, not billed; from <When at={from} /> to <When at={to} />
          </>
        ) : undefined
      }
    >
      <Loaded query={query} what="the list of queries">
        {(list) => {
          const words = emptyWords(list)
          return (
            <>
              {words !== undefined && <p className="small">{words}</p>}
              {list.energy_j > 0 && <Shares rows={shareRows(list)} />}
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

const Shares = ({ rows }: { readonly rows: readonly QueryShare[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Query</th>
        <th scope="col" className="num">
          Runs
        </th>
        <th scope="col" className="num">
          Energy
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map(({ name, isQuery, calls, nj }) => (
        <tr key={`${isQuery} ${name}`}>
          <td className={isQuery ? 'id wrap-anywhere' : undefined}>{name}</td>
          <td className="num">{calls === undefined ? '' : grouped(BigInt(calls))}</td>
          <td className="num" title={energyExact(nj)}>
            <b>{energyShort(nj)}</b>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)
