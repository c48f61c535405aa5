// ergon db energy: the energy of a database as it was charged, or an estimate of that of its queries.
import type { CommandCall } from '#cli/call.ts'
import { apiGet } from '#cli/client.ts'
import { databasePath } from '#cli/databases.ts'
import { sinceOf } from '#cli/duration.ts'
import { print, printJson, table, tell } from '#cli/output.ts'

type Figures = {
  readonly energy_j: number
  readonly server_j: number
  readonly carbon_mg: number
  readonly charge_pusd: string
}
type Energy = Figures & { readonly data: readonly (Figures & { readonly at: string })[] }
type Queries = {
  readonly basis: string
  readonly from: string | null
  readonly to: string | null
  readonly energy_j: number
  readonly other_j: number
  readonly rest_j: number
  readonly data: readonly {
    readonly query: string
    readonly calls: number
    readonly execution_ms: number
    readonly energy_j: number
  }[]
}
const QUERY_WIDTH = 80

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const path = databasePath(name)
  if (options['queries'] === true) {
    const queries = JSON.parse((await apiGet(options, `${path}/queries`)).text) as Queries
    return options.json ? printJson(queries) : printQueries(queries, name)
  }
  const query = new URLSearchParams({
    from: sinceOf(options['since']).toISOString(),
    by: String(options['by'] ?? 'hour'),
  })
  const energy = JSON.parse((await apiGet(options, `${path}/energy?${query}`)).text) as Energy
  if (options.json) return printJson(energy)
  const rowOf = (at: string, one: Figures) => [
    at,
    String(one.energy_j),
    String(one.server_j),
    String(one.carbon_mg),
    one.charge_pusd,
  ]
  const rows = energy.data.map((one) => rowOf(one.at, one))
  print(
    table(['FROM', 'JOULES', 'OF SERVER', 'CARBON mg', 'pUSD'], [...rows, rowOf('all', energy)]),
  )
}

/** One place after the point from 100 ms on, three digits below. */
const shortMs = (ms: number): string =>
  ms < 100 ? String(Number(ms.toPrecision(3))) : ms.toFixed(1)

function printQueries(queries: Queries, name: string): void {
  const { basis, from, to, energy_j, other_j, rest_j, data } = queries
  if (to === null) return tell(`${name} has not been awake for half a minute yet`)
  const rows = data.map((one) => [
    String(one.energy_j),
    String(one.calls),
    shortMs(one.execution_ms),
    one.query.replaceAll(/\s+/g, ' ').slice(0, QUERY_WIDTH),
  ])
  const others = [
    [String(other_j), '', '', "(other statements, Ergon's own among them)"],
    [String(rest_j), '', '', '(the server at rest between queries)'],
  ]
  print(table(['JOULES', 'CALLS', 'MS', 'QUERY'], [...rows, ...others]))
  tell(`${energy_j} J from ${from} to ${to}: ${basis}`)
}
