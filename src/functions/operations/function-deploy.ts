// POST /v1/functions: writes down a version; the agent's reconciler starts it once, and makes it live where that went well.
import { present } from '#base/errors.ts'
import { didYouMean, NEAR_WORDS_MAX } from '#base/nearest.ts'
import { fault } from '#contract/errors.ts'
import * as limits from '#contract/functions/function-limits.ts'
import type { FunctionRequest } from '#contract/functions/functions.ts'
import { bucketOfWord } from '#contract/storage/object-created.ts'
import { bytesOfSize } from '#contract/values/sizes.ts'
import { FUNCTION_LIMITED } from '#functions/limited-operations.ts'
import { chooseRuntime } from '#functions/runtimes.ts'
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import { setHosts } from '#resources/hosts.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import { tooManyFault } from '#resources/too-many.ts'
import { sealVariables } from '#resources/variables.ts'
import type { Queryable } from '#state/connect.ts'
import { SHOWN_FUNCTIONS, type FunctionRow } from '#functions/find-function.ts'
import { asRouteTaken } from '#functions/route-taken.ts'

const bytesOf = (memory: string) => bytesOfSize(memory, limits.FUNCTION_MEMORIES)

/** Writes a version down, with its entry in the audit log. Throws what the operation refuses. */
export async function deployFunction(
  transaction: Queryable,
  call: ActingCall,
  given: { readonly request: FunctionRequest; readonly settings: FunctionGatewaySettings },
): Promise<FunctionRow> {
  const { name, route, energy_budget: budget, source: _, env, ...more } = given.request
  const caller = present(call.caller, 'a deployment is asked for with a token')
  const { account } = caller
  await assertBuckets(transaction, account, bucketsOf(given.request))
  if (given.settings.address === undefined)
    throw fault('functions_off', `Could not deploy "${name}"`)
  const id = await addVersion(transaction, caller, given).catch((error: unknown) => {
    const tooMany = tooManyFault(error, {
      code: 'too_many_functions',
      what: `Could not deploy "${name}"`,
      most: `${limits.FUNCTIONS_MAX} functions`,
    })
    throw tooMany ?? asRouteTaken(error)
  })
  const { settings } = given
  await setHosts(transaction, id, { routes: more.routes, ownHosts: settings.ownHosts })
  await setEnergyBudget(transaction, { id, account, budget, operations: FUNCTION_LIMITED })
  const shown = { name, route, energy_budget: budget, ...more }
  const details = { ...shown, ...(env && { env: Object.keys(env) }) }
  await recordAct(transaction, call, { action: 'function.deploy', target: id, details })
  return await SHOWN_FUNCTIONS.find(transaction, account, id)
}

async function addVersion(
  transaction: Queryable,
  { account, token }: NonNullable<ActingCall['caller']>,
  { request, settings }: Parameters<typeof deployFunction>[2],
): Promise<string> {
  const seal = (env: Readonly<Record<string, string>>) => ({
    env_names: Object.keys(env).toSorted(),
    sealed_env: sealVariables(env, {
      kind: 'function',
      account,
      environmentKey: settings.environmentKey,
    }),
  })
  const defaults = {
    route: `/${request.name}`,
    memory_bytes: bytesOf(limits.FUNCTION_MEMORY_DEFAULT),
    timeout_s: limits.FUNCTION_TIMEOUT_S_DEFAULT,
    buckets: [],
    ...seal({}),
  }
  const runtime = chooseRuntime(settings.runtimes, {
    asked: request.runtime,
    before: await runtimeBefore(transaction, account, request.name),
    file: request.file,
  })
  const { rows } = await transaction.query<{ id: string }>(
    'select deploy_function($1, $2, $3, $4, $5, $6, $7) as id',
    [
      account,
      request.name,
      settings.region,
      limits.FUNCTIONS_MAX,
      JSON.stringify(defaults),
      JSON.stringify({ ...wantedOf(request, runtime, seal), deployed_by: token }),
      limits.FUNCTION_VERSIONS_MAX,
    ],
  )
  return present(rows[0], 'a deployment has a row').id
}

async function runtimeBefore(
  transaction: Queryable,
  account: string,
  name: string,
): Promise<string | undefined> {
  const { rows } = await transaction.query<{ runtime: string }>(
    `select v.runtime from resources n
       join function_versions v on v.function = n.id and v.version = n.version
     where n.account = $1 and n.kind = 'function' and n.name = $2 and n.desired <> 'deleted'`,
    [account, name],
  )
  return rows[0]?.runtime
}

/** The members that a request names. */
function wantedOf(
  { memory, env, file, source, on, ...settings }: FunctionRequest,
  runtime: string,
  seal: (env: Readonly<Record<string, string>>) => object,
): object {
  return {
    file,
    source,
    runtime,
    ...settingsOf(settings),
    ...(memory !== undefined && { memory_bytes: bytesOf(memory) }),
    ...(env !== undefined && seal(env)),
    ...(on !== undefined && { buckets: bucketsOf({ on }) }),
  }
}

/** Those that are kept as they are asked for; what is left out stays as it was. */
const settingsOf = ({
  route,
  timeout_s,
  schedule,
  concurrency,
}: Partial<FunctionRequest>): object => ({
  ...(route !== undefined && { route }),
  ...(timeout_s !== undefined && { timeout_s }),
  ...(schedule !== undefined && { schedule }),
  ...(concurrency !== undefined && { concurrency }),
})

/** The buckets of triggers. */
const bucketsOf = ({ on = [] }: Pick<FunctionRequest, 'on'>): string[] => [
  ...new Set(on.map((trigger) => bucketOfWord(trigger) ?? '')),
]

async function assertBuckets(
  transaction: Queryable,
  account: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  const { rows } = await transaction.query<{ name: string }>(
    `select w.name from unnest($2::text[]) as w (name)
     where not exists (select from buckets b where b.name = w.name and b.account = $1)`,
    [account, names],
  )
  const [missing] = rows
  if (missing === undefined) return
  const own = await transaction.query<{ name: string }>(
    `select name from buckets where account = $1 order by name limit ${NEAR_WORDS_MAX}`,
    [account],
  )
  const meant = didYouMean(
    missing.name,
    own.rows.map(({ name }) => name),
  )
  const words = `Could not follow the bucket: the account has no "${missing.name}"`
  throw fault('function_bucket_not_found', meant === undefined ? words : `${words}; ${meant}`, {
    param: 'on',
  })
}
