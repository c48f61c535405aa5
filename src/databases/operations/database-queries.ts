// GET /v1/databases/{id or name}/queries: the statements that the agent read last, with the energy of the server
// apportioned by their execution time. No database is woken up for it.
import { nj, printJoules, splitByWeight, subtract, sum } from '#base/units.ts'
import { QUERIES_BASIS } from '#contract/databases.ts'
import { rawNumber } from '#contract/raw-json.ts'
import { SHOWN_DATABASES } from '#databases/operations/find-database.ts'
import { readStatements, type Statements } from '#databases/server/statements.ts'
import type { Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { sumResource } from '#ledger/resource-energy.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'

const NS_PER_MS = 1e6

export const createDatabaseQueries =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { id, account } = await askedResource(SHOWN_DATABASES, state, call)
    const found = await readStatements(state, id)
    const energy = found === undefined ? 0n : await energyOf(state, { account, id, found })
    const reply = { object: 'database.queries', basis: QUERIES_BASIS, ...apportion(found, energy) }
    return { kind: 'known', status: 200, body: () => JSON.stringify(reply) }
  }

async function energyOf(
  state: State,
  { account, id, found }: { account: string; id: string; found: Statements },
): Promise<bigint> {
  const { since: from, sampled_at: to } = found
  const span = { account, resource: id, operations: ['cell.standing'], from, to } as const
  const rows = await inSnapshot(state, (snapshot) => sumResource(snapshot, span, 'day'))
  return rows.reduce((all, { energy }) => all + BigInt(energy), 0n)
}

function apportion(found: Statements | undefined, energy: bigint) {
  const listed = found?.statements ?? []
  const weights = [...listed.map(({ execution_ms: ms }) => ms), found?.other_ms ?? 0]
  const shares = splitByWeight(
    energy,
    weights.map((ms) => BigInt(Math.round(ms * NS_PER_MS))),
  ).map(nj)
  const queries = shares.slice(0, listed.length)
  return {
    from: found?.since.toISOString() ?? null,
    to: found?.sampled_at.toISOString() ?? null,
    energy_j: rawNumber(printJoules(nj(energy))),
    other_j: rawNumber(printJoules(subtract(nj(energy), sum(queries)))),
    data: listed.map((one, place) => ({
      ...one,
      energy_j: rawNumber(printJoules(queries[place] ?? nj(0n))),
    })),
  }
}
