// ergon db energy: the energy of a database as it was charged, or an estimate of that of its queries.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { databasePath } from '#cli/databases.ts'
import { sinceOf } from '#cli/duration.ts'
import { printEnergy, type EnergyRow } from '#cli/hourly-energy.ts'
import { CommandError, EXIT, print, printJson, table, tell } from '#cli/output.ts'
import { DATABASE_ENERGY_DAYS_MAX } from '#contract/databases/databases-max.ts'
import type { databaseEnergy, databaseQueries } from '#contract/databases/databases.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

type Energy = ReplyOf<typeof databaseEnergy>
type Figures = Pick<Energy, 'energy_j' | 'carbon_mg' | 'charge_pusd'>
type Queries = ReplyOf<typeof databaseQueries>

const QUERY_WIDTH = 80
const QUERIES_SHOWN = 20
/** Sums of joules as numbers end in digits of the machine. */
const JOULES_PLACES = 9

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const path = databasePath(name)
  if (options['queries'] === true) {
    const queries = replyOf<typeof databaseQueries>(await apiGet(options, `${path}/queries`))
    if (options.json) return printJson(queries)
    return printQueries(queries, name, limitOf(options['limit']))
  }
  const query = new URLSearchParams({
    from: sinceOf(options['since'], DATABASE_ENERGY_DAYS_MAX).toISOString(),
    by: String(options['by'] ?? 'hour'),
  })
  const energy = replyOf<typeof databaseEnergy>(await apiGet(options, `${path}/energy?${query}`))
  if (options.json) return printJson(energy)
  const rowOf = (from: string, one: Figures): EnergyRow => ({
    from,
    joules: String(one.energy_j),
    carbonMg: String(one.carbon_mg),
    chargePusd: one.charge_pusd,
  })
  printEnergy([...energy.data.map((one) => rowOf(one.at, one)), rowOf('all', energy)])
  tell(`${energy.server_j} J of all are of its server`)
}

/** One place after the point from 100 ms on, three digits below. */
const shortMs = (ms: number): string =>
  ms < 100 ? String(Number(ms.toPrecision(3))) : ms.toFixed(1)

function limitOf(given: unknown = QUERIES_SHOWN): number {
  const limit = Number(given)
  if (Number.isInteger(limit) && limit >= 1) return limit
  throw new CommandError('Could not accept --limit: must be 1 or more', EXIT.usage)
}

function printQueries(queries: Queries, name: string, limit: number): void {
  const { basis, from, to, energy_j, other_j, rest_j, data } = queries
  if (to === null) return tell(`${name} has not been awake for half a minute yet`)
  const others_j = data.slice(limit).reduce((sum, one) => sum + one.energy_j, other_j)
  const rows = data
    .slice(0, limit)
    .map((one) => [
      String(one.energy_j),
      String(one.calls),
      shortMs(one.execution_ms),
      one.query.replaceAll(/\s+/g, ' ').slice(0, QUERY_WIDTH),
    ])
  const others = [
    [
      String(Number(others_j.toFixed(JOULES_PLACES))),
      '',
      '',
      "(other statements, Ergon's own among them)",
    ],
    [String(rest_j), '', '', '(the server at rest between queries)'],
  ]
  print(table(['JOULES', 'CALLS', 'MS', 'QUERY'], [...rows, ...others]))
  tell(`${energy_j} J from ${from} to ${to}: ${basis}`)
}
