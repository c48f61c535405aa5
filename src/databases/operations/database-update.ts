// PATCH /v1/databases/{id or name}: another size or energy budget, suspend or resume. The agent does it.
import { DATABASE_SIZES, type DatabaseChange } from '#contract/databases/databases.ts'
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { bytesOfSize } from '#contract/values/sizes.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import { LIMITED } from '#databases/limited-operations.ts'
import { SHOWN_DATABASES, type DatabaseRow } from '#databases/find-database.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import { createResourceChange } from '#http/resource-operations.ts'
import type { Queryable, State } from '#state/connect.ts'

type Deps = { readonly state: State; readonly settings: GatewaySettings }

export const createDatabaseUpdate = (deps: Deps): Handler<DatabaseChange> =>
  createResourceChange(SHOWN_DATABASES, deps, (transaction, call, asked: DatabaseUpdate) => {
    if (!deps.settings.isOn)
      throw fault('databases_off', `Could not change "${asked.resource.name}"`)
    return updateDatabase(transaction, call, asked)
  })

type DatabaseUpdate = { readonly resource: DatabaseRow; readonly change: DatabaseChange }

/** Changes a database, with the entry in the audit log. Throws what the operation refuses. */
export async function updateDatabase(
  transaction: Queryable,
  call: ActingCall,
  { resource: database, change }: DatabaseUpdate,
): Promise<void> {
  const { id } = database
  const { size, suspended, energy_budget: budget, upgrade } = change
  const { account } = present(call.caller, 'a change is asked for with a token')
  assertPossible(database, change)
  await recordAct(transaction, call, { action: 'database.update', target: id, details: change })
  if (size !== undefined)
    await transaction.query('update databases set size_bytes = $2 where id = $1', [
      id,
      bytesOfSize(size, DATABASE_SIZES),
    ])
  if (budget !== undefined) await transaction.query(START, [id])
  if (upgrade === true) {
    await transaction.query('update databases set wants_upgrade = true where id = $1', [id])
    await transaction.query("select want_resource($1, 'deployed')", [id])
  }
  if (suspended !== undefined)
    await transaction.query(SWITCH, [id, suspended ? 'suspended' : 'deployed'])
  // Last: a budget locks the head of the ledger, and others may wait for the lock of the resource.
  await setEnergyBudget(transaction, { id, account, budget, operations: LIMITED })
}

/** A database that waited for energy, before its first start or at its resume, does not wait for its next try. */
const START = `select want_resource(id, desired) from resources where id = $1 and desired = 'deployed'
  and (actual in ('pending', 'deploying', 'failed') or (actual = 'suspended' and reason is not null))`

/** A wish that the database has already is no change, unless the wish has failed: then it is tried at once. */
const SWITCH = `select want_resource(id, $2) from resources
  where id = $1 and (desired <> $2 or reason is not null or (actual = 'crash_loop' and $2 = 'deployed'))`

/** States that can be suspended and resumed. */
const SWITCHED: ReadonlySet<string> = new Set(['deployed', 'crash_loop', 'suspended'])

function assertPossible(
  { name, actual, stored_bytes: stored, size_bytes: had }: DatabaseRow,
  { size, suspended, upgrade }: DatabaseChange,
): void {
  const bytes = size === undefined ? undefined : bytesOfSize(size, DATABASE_SIZES)
  // A full database stores more than its size.
  if (bytes !== undefined && bytes < Number(stored) && bytes !== Number(had))
    throw fault('invalid_request', `Could not accept size: "${name}" stores ${stored} bytes`, {
      param: 'size',
    })
  if (upgrade === true && (actual === 'suspended' || suspended === true))
    throw fault('database_suspended', `Could not upgrade "${name}": it is suspended`)
  if (upgrade === true && actual !== 'deployed')
    throw fault('database_not_ready', `Could not upgrade "${name}": it is not deployed`)
  if (suspended !== undefined && !SWITCHED.has(actual))
    throw fault('database_not_ready', `Could not change "${name}": it is ${actual}`)
}
