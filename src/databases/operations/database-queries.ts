// GET /v1/databases/{id or name}/queries: the statements that the agent read last, each with its part of the energy of
// the server, and the part of no statement. No database is woken up for the answer.
import { larger, nj, printJoules, splitByWeight, subtract, sum, type Nj } from '#base/units.ts'
import { QUERIES_BASIS } from '#contract/databases/databases.ts'
import { rawNumber } from '#contract/values/raw-json.ts'
import type { QueryRates } from '#databases/operations/database-query.ts'
import { SHOWN_DATABASES } from '#databases/find-database.ts'
import { energyOfMs } from '#databases/query/energy-of-ms.ts'
import { readStatements, type Statements } from '#databases/server/statements.ts'
import type { Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { sumResource } from '#ledger/resource-energy.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'

export const createDatabaseQueries =
  ({ state, rates }: { readonly state: State; readonly rates: QueryRates }): Handler =>
  async (call) => {
    const { id, account } = await askedResource(SHOWN_DATABASES, state, call)
    const found = await readStatements(state, id)
    const figures =
      found === undefined
        ? NOTHING_READ
        : figuresOf(found, await energyOf(state, { account, id, found }), rates().njPerCpuS)
    const reply = { object: 'database.queries', basis: QUERIES_BASIS, ...figures }
    return { kind: 'known', status: 200, body: () => JSON.stringify(reply) }
  }

async function energyOf(
  state: State,
  { account, id, found }: { account: string; id: string; found: Statements },
): Promise<Nj> {
  const { since: from, sampled_at: to } = found
  const span = { account, resource: id, operations: ['cell.standing'], from, to } as const
  const rows = await inSnapshot(state, (snapshot) => sumResource(snapshot, span, 'day'))
  return sum(rows.map(({ energy }) => nj(BigInt(energy))))
}

/** Shares in nanojoules. Together they are the energy of the server. */
export type QueryShares = {
  /** The shares of the listed statements, in their order. */
  readonly queries: readonly Nj[]
  /** The share of the statements that are not listed. */
  readonly other: Nj
  /** The share of the server without a statement. */
  readonly rest: Nj
}

/**
 * A statement has its time at one processor, as the answer of a query says. The rest is the server's own. Statements that
 * wait take time and no energy: then the shares of all are smaller, and nothing is left for the rest.
 */
export function queryShares(
  { statements, other_ms: otherMs }: Pick<Statements, 'statements' | 'other_ms'>,
  energy: Nj,
  njPerCpuS: bigint,
): QueryShares {
  const most = [...statements.map(({ execution_ms: ms }) => ms), otherMs].map((ms) =>
    energyOfMs(ms, njPerCpuS),
  )
  const left = larger(nj(0n), subtract(energy, sum(most)))
  const shares = splitByWeight(energy, [...most, left]).map(nj)
  const count = statements.length
  const [other = nj(0n), rest = nj(0n)] = shares.slice(count)
  return { queries: shares.slice(0, count), other, rest }
}

function figuresOf(found: Statements, energy: Nj, njPerCpuS: bigint) {
  const { queries, other, rest } = queryShares(found, energy, njPerCpuS)
  return {
    from: found.since.toISOString(),
    to: found.sampled_at.toISOString(),
    energy_j: rawNumber(printJoules(energy)),
    other_j: rawNumber(printJoules(other)),
    rest_j: rawNumber(printJoules(rest)),
    data: found.statements.map((one, place) => ({
      ...one,
      energy_j: rawNumber(printJoules(queries[place] ?? nj(0n))),
    })),
  }
}

/** Before the first reading. */
const NOTHING_READ = { from: null, to: null, energy_j: 0, other_j: 0, rest_j: 0, data: [] }
