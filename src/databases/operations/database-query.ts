// POST /v1/databases/{id or name}/query: one statement that reads, as any client of the endpoint sends it. The server is
// charged by the minute and the session by the proxy, so the request itself costs its own CPU alone.
import pg from 'pg'
import { priceOf, printJoules } from '#base/units.ts'
import {
  databaseQueryReply,
  QUERY_MS_MAX,
  type DatabaseQueryRequest,
} from '#contract/databases/databases.ts'
import { fault } from '#contract/errors.ts'
import { rawNumber } from '#contract/values/raw-json.ts'
import { passwordOf } from '#databases/logins/passwords.ts'
import { SHOWN_DATABASES, databaseStatusOf, type DatabaseRow } from '#databases/find-database.ts'
import { askDatabase, type QueryAnswer } from '#databases/query/ask-database.ts'
import { energyOfMs } from '#databases/query/energy-of-ms.ts'
import { queryRefusal } from '#databases/query/query-refusal.ts'
import { wantQueryRole } from '#databases/query/query-role.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { recordAct } from '#identity/audit.ts'
import type { OperationCall, Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import type { State } from '#state/connect.ts'

export type QueryRates = () => { readonly njPerCpuS: bigint; readonly pusdPerJ: bigint }

/** Queries of a gateway that run at once, each of which may keep 8 MB, and those of one account. */
const RUNNING_MAX = 24
const RUNNING_OF_ACCOUNT_MAX = 4
const RETRY_S = 1

export function createDatabaseQuery(deps: {
  readonly state: State
  readonly settings: GatewaySettings
  readonly rates: QueryRates
}): Handler<DatabaseQueryRequest> {
  const running: string[] = []
  return async (call) => {
    const { body, signal, spend } = call
    const database = await askedResource(SHOWN_DATABASES, deps.state, call)
    const { account } = database
    demandRunnable(database, deps.settings)
    if (running.filter((one) => one === account).length >= RUNNING_OF_ACCOUNT_MAX)
      throw fault(
        'too_many_requests',
        `Could not run the query: ${RUNNING_OF_ACCOUNT_MAX} of the account run already`,
        { retryAfterS: RETRY_S },
      )
    if (running.length >= RUNNING_MAX)
      throw fault('overloaded', `Could not run the query: ${RUNNING_MAX} run already`, {
        retryAfterS: RETRY_S,
      })
    running.push(account)
    try {
      const login = await loginOf(deps, database, call)
      const asked = { sql: body.sql, rowsMax: body.max_rows }
      const answer = await askDatabase(login, asked, { signal, mark: () => spend.mark() })
      return replyOf(answer, deps.rates)
    } catch (error) {
      throw error instanceof pg.DatabaseError ? queryRefusal(error) : error
    } finally {
      running.splice(running.indexOf(account), 1)
    }
  }
}

/** GET /v1/databases/{id or name}/query/ceiling: as a query is read and admitted, which costs what this request does. */
export const createQueryCeiling =
  ({ state, rates }: { readonly state: State; readonly rates: QueryRates }): Handler =>
  async (call) => {
    const { spend } = call
    await askedResource(SHOWN_DATABASES, state, call)
    const reply = {
      object: 'ceiling',
      ceiling_j: rawNumber(printJoules(spend.ceilingNj)),
      ceiling_nj: spend.ceilingNj.toString(),
      ceiling_pusd: priceOf(spend.ceilingNj, rates().pusdPerJ).toString(),
      server_j: rawNumber(printJoules(energyOfMs(QUERY_MS_MAX, rates().njPerCpuS))),
      time_limit_ms: QUERY_MS_MAX,
    }
    return { kind: 'known', status: 200, body: () => JSON.stringify(reply) }
  }

function demandRunnable(database: DatabaseRow, settings: GatewaySettings): void {
  const { name, actual, is_pending: isPending } = database
  if (!settings.isOn) throw fault('databases_off', `Could not query "${name}"`)
  // One that is being resumed needs no second wish.
  if (actual === 'suspended' && !isPending)
    throw fault('database_suspended', `Could not query "${name}": it is suspended`)
  if (actual !== 'deployed')
    throw fault(
      'database_not_ready',
      `Could not query "${name}": it is ${databaseStatusOf(database)}`,
    )
}

/** The login of the role that reads; the audit log has the query without its text, which may have secrets. */
const loginOf = (
  { state, settings }: { readonly state: State; readonly settings: GatewaySettings },
  { id, name, role: owner }: DatabaseRow,
  call: Pick<OperationCall, 'caller' | 'spend'>,
) =>
  state.transaction(async (transaction) => {
    const key = settings.passwordKey
    const role = await wantQueryRole(transaction, { id, owner, key })
    await recordAct(transaction, call, { action: 'database.query', target: id })
    return {
      socketFolder: settings.socketFolder,
      user: role.name,
      password: passwordOf(key, role.name, role.revision),
      database: name,
    }
  })

function replyOf(answer: QueryAnswer, rates: QueryRates) {
  const { command, columns, rows, isCut, durationMs } = answer
  const reply = {
    object: 'database.query',
    command,
    columns,
    rows,
    row_count: rows.length,
    cut: isCut,
    duration_ms: Number(durationMs.toFixed(3)),
    server_j: rawNumber(printJoules(energyOfMs(durationMs, rates().njPerCpuS))),
    basis: databaseQueryReply.shape.basis.value,
  }
  return { kind: 'known', status: 200, body: () => JSON.stringify(reply) } as const
}
