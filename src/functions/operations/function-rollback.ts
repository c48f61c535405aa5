// POST /v1/functions/{id or name}/rollback: an earlier version is wanted again.
import { fault } from '#contract/errors.ts'
import type { RollbackRequest } from '#contract/functions.ts'
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import { findFunction, functionReplyOf } from './find-function.ts'
import { asRouteTaken } from './route-taken.ts'

export const createFunctionRollback =
  ({
    state,
    settings,
  }: {
    readonly state: State
    readonly settings: FunctionGatewaySettings
  }): Handler<RollbackRequest> =>
  async (call) => {
    const { who, parameters, body } = call
    const { account } = callerOf(who)
    const { id, name } = await findFunction(state, account, parameters['function'] ?? '')
    const back = state.transaction(async (transaction) => {
      const { rows } = await transaction.query<{ version: number | null }>(
        'select roll_back_function($1, $2) as version',
        [id, body.version ?? null],
      )
      const version = rows[0]?.version ?? undefined
      if (version === undefined)
        throw fault(
          'function_version_not_found',
          `Could not roll "${name}" back: there is no ${body.version === undefined ? 'version before the live one' : `version ${body.version}`}`,
        )
      const details = { version }
      await recordAct(transaction, call, { action: 'function.rollback', target: id, details })
    })
    await back.catch((error: unknown) => {
      throw asRouteTaken(error)
    })
    return known(functionReplyOf(await findFunction(state, account, id), settings))
  }
