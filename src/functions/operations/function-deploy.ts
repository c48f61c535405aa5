// POST /v1/functions: writes down a version; the agent's reconciler starts it once, and makes it live where that went well.
import { encrypt } from '#base/encryption.ts'
import { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import * as limits from '#contract/function-limits.ts'
import { bytesOfMemory, type FunctionRequest } from '#contract/functions.ts'
import { FUNCTION_LIMITED } from '#functions/operations/limited-operations.ts'
import { environmentPurpose, type FunctionGatewaySettings } from '#functions/settings.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import type { State } from '#state/connect.ts'
import { findFunction, functionReplyOf } from './find-function.ts'
import { asRouteTaken } from './route-taken.ts'

const TOO_MANY = 'EG020'

export function createFunctionDeploy(deps: {
  readonly state: State
  readonly settings: FunctionGatewaySettings
}): Handler<FunctionRequest> {
  const { state, settings } = deps
  return async (call) => {
    const { account } = callerOf(call.who)
    const { name, route, energy_budget: budget } = call.body
    if (settings.address === undefined) throw fault('functions_off', `Could not deploy "${name}"`)
    const seal = (env: Readonly<Record<string, string>>) => ({
      env_names: Object.keys(env).toSorted(),
      sealed_env: encrypt(
        new Secret(JSON.stringify(env)),
        new Secret(settings.environmentKey),
        environmentPurpose(account),
      ),
    })
    const defaults = {
      route: `/${name}`,
      runtime: 'node24',
      memory_bytes: bytesOfMemory(limits.FUNCTION_MEMORY_DEFAULT),
      timeout_s: limits.FUNCTION_TIMEOUT_S_DEFAULT,
      ...seal({}),
    }
    const wanted = wantedOf(call.body, seal)
    const made = await state
      .transaction(async (transaction) => {
        const { rows } = await transaction.query<{ id: string }>(
          'select deploy_function($1, $2, $3, $4, $5, $6, $7) as id',
          [
            account,
            name,
            settings.region,
            limits.FUNCTIONS_MAX,
            JSON.stringify(defaults),
            JSON.stringify(wanted),
            limits.FUNCTION_VERSIONS_MAX,
          ],
        )
        const id = rows[0]?.id ?? ''
        if (budget !== undefined)
          await setEnergyBudget(transaction, { id, account, budget, operations: FUNCTION_LIMITED })
        const { source: _, env, ...shown } = call.body
        const details = { ...shown, ...(env && { env: Object.keys(env) }) }
        await recordAct(transaction, call, { action: 'function.deploy', target: id, details })
        return await findFunction(transaction, account, id)
      })
      .catch((error: unknown) => {
        if ((error as { code?: string }).code === TOO_MANY)
          throw fault(
            'too_many_functions',
            `Could not deploy "${name}": an account has at most ${limits.FUNCTIONS_MAX}`,
          )
        throw asRouteTaken(error, route ?? `/${name}`)
      })
    return known(functionReplyOf(made, settings), 201)
  }
}

/** The members that a request names. Throws runtime_unknown. */
function wantedOf(
  { runtime, memory, timeout_s, env, route, file, source }: FunctionRequest,
  seal: (env: Readonly<Record<string, string>>) => object,
): object {
  const known = runtime === undefined ? undefined : limits.runtimeOf(runtime)
  if (runtime !== undefined && known === undefined)
    throw fault(
      'runtime_unknown',
      `Could not run "${runtime}"; there are: ${Object.keys(limits.RUNTIMES).join(', ')}`,
      { param: 'runtime' },
    )
  const { extensions } = limits.RUNTIMES[known ?? 'node24'] ?? { extensions: [] }
  if (!extensions.some((end) => file.endsWith(end)))
    throw fault(
      'invalid_request',
      `Could not accept file: it must end with ${extensions.join(', ')}`,
      {
        param: 'file',
      },
    )
  return {
    file,
    source,
    ...(known !== undefined && { runtime: known }),
    ...(route !== undefined && { route }),
    ...(memory !== undefined && { memory_bytes: bytesOfMemory(memory) }),
    ...(timeout_s !== undefined && { timeout_s }),
    ...(env !== undefined && seal(env)),
  }
}
