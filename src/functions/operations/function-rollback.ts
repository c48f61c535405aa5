// POST /v1/functions/{id or name}/rollback: an earlier version is wanted again.
import { fault } from '#contract/errors.ts'
import type { RollbackRequest } from '#contract/functions.ts'
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct, type Asker } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable, State } from '#state/connect.ts'
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
    await state.transaction((transaction) =>
      rollBackFunction(transaction, call, { id, name, version: body.version }),
    )
    return known(functionReplyOf(await findFunction(state, account, id), settings))
  }

type Back = { readonly id: string; readonly name: string; readonly version: number | undefined }

/** With its entry in the audit log. Throws function_version_not_found, and what asRouteTaken makes of an error. */
export async function rollBackFunction(
  transaction: Queryable,
  asker: Asker,
  { id, name, version: asked }: Back,
): Promise<void> {
  const { rows } = await transaction
    .query<{ version: number | null }>('select roll_back_function($1, $2) as version', [
      id,
      asked ?? null,
    ])
    .catch((error: unknown) => {
      throw asRouteTaken(error)
    })
  const version = rows[0]?.version ?? undefined
  if (version === undefined)
    throw fault(
      'function_version_not_found',
      `Could not roll "${name}" back: there is no ${asked === undefined ? 'version before the live one' : `version ${asked}`}`,
    )
  const details = { version }
  await recordAct(transaction, asker, { action: 'function.rollback', target: id, details })
}
