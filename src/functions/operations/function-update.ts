// PATCH /v1/functions/{id or name}: suspend or resume it, or change its energy budget.
import type { FunctionChange } from '#contract/functions.ts'
import { FUNCTION_LIMITED } from '#functions/operations/limited-operations.ts'
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import type { State } from '#state/connect.ts'
import { findFunction, functionReplyOf } from './find-function.ts'

export const createFunctionUpdate =
  ({
    state,
    settings,
  }: {
    readonly state: State
    readonly settings: FunctionGatewaySettings
  }): Handler<FunctionChange> =>
  async (call) => {
    const { who, parameters, body } = call
    const { account } = callerOf(who)
    const { id } = await findFunction(state, account, parameters['function'] ?? '')
    const { suspended, energy_budget: budget } = body
    await state.transaction(async (transaction) => {
      await recordAct(transaction, call, { action: 'function.update', target: id, details: body })
      if (budget !== undefined)
        await setEnergyBudget(transaction, { id, account, budget, operations: FUNCTION_LIMITED })
      if (suspended !== undefined)
        await transaction.query('select want_resource($1, $2)', [
          id,
          suspended ? 'suspended' : 'deployed',
        ])
    })
    return known(functionReplyOf(await findFunction(state, account, id), settings))
  }
