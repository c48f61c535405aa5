// PATCH /v1/databases/{id or name}: another size or energy budget, suspend or resume. The agent does it.
import { DATABASE_SIZES, type DatabaseChange } from '#contract/databases.ts'
import { fault } from '#contract/errors.ts'
import { bytesOfSize } from '#contract/sizes.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import { LIMITED } from '#databases/operations/limited-operations.ts'
import { findDatabase, replyOf } from '#databases/operations/find-database.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { recordAct } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

export function createDatabaseUpdate(deps: {
  readonly state: State
  readonly settings: GatewaySettings
}): Handler<DatabaseChange> {
  const { state, settings } = deps
  return async (call) => {
    const { who, parameters, body } = call
    const { size, suspended, energy_budget: budget, upgrade } = body
    const { account } = callerOf(who)
    const wanted = parameters['database'] ?? ''
    const { id, name, actual, stored_bytes: stored } = await findDatabase(state, account, wanted)
    if (!settings.isOn) throw fault('databases_off', `Could not change "${name}"`)
    const bytes = size === undefined ? undefined : bytesOfSize(size, DATABASE_SIZES)
    if (bytes !== undefined && bytes < Number(stored))
      throw fault('invalid_request', `Could not accept size: "${name}" stores ${stored} bytes`, {
        param: 'size',
      })
    if (upgrade === true && (actual === 'suspended' || suspended === true))
      throw fault('database_suspended', `Could not upgrade "${name}": it is suspended`)
    if (upgrade === true && actual !== 'deployed')
      throw fault('database_not_ready', `Could not upgrade "${name}": it is not deployed`)
    if (suspended !== undefined && actual !== 'deployed' && actual !== 'suspended')
      throw fault('database_not_ready', `Could not change "${name}": it is ${actual}`)
    await state.transaction(async (transaction) => {
      await recordAct(transaction, call, { action: 'database.update', target: id, details: body })
      if (bytes !== undefined)
        await transaction.query('update databases set size_bytes = $2 where id = $1', [id, bytes])
      if (budget !== undefined)
        await setEnergyBudget(transaction, { id, account, budget, operations: LIMITED })
      if (upgrade === true) {
        await transaction.query('update databases set wants_upgrade = true where id = $1', [id])
        await transaction.query("select want_resource($1, 'deployed')", [id])
      }
      if (suspended !== undefined)
        await transaction.query('select want_resource($1, $2)', [
          id,
          suspended ? 'suspended' : 'deployed',
        ])
    })
    const reply = replyOf(await findDatabase(state, account, id), settings)
    return { kind: 'known', status: 200, body: () => reply }
  }
}
