// The queries that took longest, each with its part of the energy of the server.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import { grouped } from '#console/figures/digits.ts'
import { energyExact, energyShort } from '#console/figures/energy.ts'
import { Loaded } from '#console/parts/loaded.tsx'
import { Section } from '#console/parts/section.tsx'
import { When } from '#console/parts/when.tsx'
import type { Database } from './database.ts'

const SHOWN = 8
const NJ_PER_J = 1e9

export function Queries({ database }: { readonly database: Database }) {
  const query = useQuery(
    read('GET /v1/databases/:database/queries', { path: { database: database.id } }),
  )
  const from = query.data?.from
  return (
    <Section
      title="Where the joules go"
      aside={
        from ? (
          <>
            estimated by time, not billed; since <When at={from} />
          </>
        ) : undefined
      }
    >
      <Loaded query={query} what="the list of queries">
        {({ data, other_j }) =>
          data.length === 0 ? (
            <p className="small">No query has run yet.</p>
          ) : (
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
                {data.slice(0, SHOWN).map((row) => (
                  <tr key={row.query}>
                    <td className="id wrap-anywhere">{row.query}</td>
                    <td className="num">{grouped(BigInt(row.calls))}</td>
                    <Energy joules={row.energy_j} />
                  </tr>
                ))}
                <tr>
                  <td colSpan={2}>everything else</td>
                  <Energy
                    joules={data.slice(SHOWN).reduce((sum, row) => sum + row.energy_j, other_j)}
                  />
                </tr>
              </tbody>
            </table>
          )
        }
      </Loaded>
    </Section>
  )
}

function Energy({ joules }: { readonly joules: number }) {
  const nj = BigInt(Math.round(joules * NJ_PER_J))
  return (
    <td className="num" title={energyExact(nj)}>
      <b>{energyShort(nj)}</b>
    </td>
  )
}
