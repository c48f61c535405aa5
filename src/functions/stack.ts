// Functions of description files.
import { createHash } from 'node:crypto'
import { printEnergyPerDay } from '#contract/values/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import * as limits from '#contract/functions/function-limits.ts'
import { parseFunctionRequest, type FunctionRequest } from '#contract/functions/functions.ts'
import { objectsOf } from '#contract/storage/object-created.ts'
import { sizeText } from '#contract/values/sizes.ts'
import { removeOf } from '#resources/delete-resource.ts'
import {
  assertRegion,
  BUDGET,
  foundBudget,
  wantedBudget,
  secretsOf,
  variableAttributes,
} from '#resources/stack-attributes.ts'
import {
  attributeOf,
  isPending,
  type FoundResource,
  type StackAttributes,
  type StackPart,
  type StackProduct,
  type StackWish,
} from '#resources/stack-part.ts'
import { applyVersions, progressOfVersions, versionThere } from '#resources/stack-versions.ts'
import { openVariables } from '#resources/variables.ts'
import type { Pending } from '#stack/field.ts'
import type { Queryable } from '#state/connect.ts'
import { deployFunction } from './operations/function-deploy.ts'
import { updateFunction } from './operations/function-update.ts'
import { rollBackFunction } from './operations/function-rollback.ts'
import { SHOWN_FUNCTIONS } from './find-function.ts'
import { routeTaken } from './route-taken.ts'
import { chooseRuntime } from './runtimes.ts'
import type { FunctionGatewaySettings } from './settings.ts'

export const FUNCTIONS_STACK: StackProduct<FunctionGatewaySettings> = {
  name: 'functions',
  open: (_, settings) => ({ function: createFunctionPart(settings) }),
}

const createFunctionPart = (settings: FunctionGatewaySettings): StackPart<'function'> => ({
  secretOutputs: [],
  exclusive: ['route'],
  wanted(wish) {
    assertServed(wish, settings)
    return wantedOf(wish, settings)
  },
  async assertFree(state, { account, attributes: { route }, besides }) {
    if (typeof route !== 'string') return
    const { rows } = await state.query<{ taken: boolean }>(
      'select is_route_taken($1, $2, $3) as taken',
      [account, route, besides],
    )
    if (rows[0]?.taken === true) throw routeTaken(route)
  },
  find: (state, { account, name }) => findIt(state, settings, account, name),
  apply: applyVersions<'function'>({
    find: SHOWN_FUNCTIONS.find,
    rollBack: rollBackFunction,
    ofResource: new Set([BUDGET]),
    deploy: (transaction, call, { wish }) =>
      deployFunction(transaction, call, { request: requestOf(wish, settings), settings }),
    change(transaction, call, { wish, found }) {
      const { energy_budget = null } = requestOf(wish, settings)
      return updateFunction(transaction, call, {
        resource: found,
        change: { energy_budget },
        ownHosts: settings.ownHosts,
      })
    },
  }),
  remove: removeOf('function'),
})

type Wish = StackWish<'function'>

/** No trigger, no schedule. */
const NONE = 'none'

/** Throws functions_off, invalid_request. */
function assertServed({ name, spec, files }: Wish, settings: FunctionGatewaySettings): void {
  if (settings.address === undefined) throw fault('functions_off', `Could not deploy "${name}"`)
  assertRegion(spec.region, settings.region)
  if (isPending(spec.file) || Object.hasOwn(files, spec.file)) return
  throw fault('invalid_request', `Could not find the file in the deployment: ${spec.file}`)
}

const SECOND_MS = 1000

/** Without a wish, `concurrency` is no attribute: it follows from the form of the handler. */
function wantedOf(wish: Wish, settings: FunctionGatewaySettings): StackAttributes {
  const { name, spec, files } = wish
  const { timeout = limits.FUNCTION_TIMEOUT_S_DEFAULT * SECOND_MS } = spec
  const code = attributeOf(spec.file, (path) => codeText(files[path]))
  return {
    code,
    runtime: attributeOf(runtimeOf(wish, settings), String),
    memory: attributeOf(spec.memory ?? null, (bytes) =>
      bytes === null ? limits.FUNCTION_MEMORY_DEFAULT : sizeText(bytes),
    ),
    timeout: attributeOf(timeout, (ms) => `${ms / SECOND_MS}s`),
    route: attributeOf(spec.route ?? `/${name}`, String),
    on: attributeOf(spec.on ?? NONE, String),
    schedule: attributeOf(spec.schedule ?? NONE, String),
    ...(spec.concurrency !== undefined && { concurrency: attributeOf(spec.concurrency, String) }),
    ...wantedBudget(spec.energy_budget),
    ...variableAttributes('env', spec.env ?? {}),
    ...variableAttributes('env', secretsOf(spec.secret)),
  }
}

/** Throws runtime_unknown, invalid_request. */
function runtimeOf({ spec, files }: Wish, { runtimes }: FunctionGatewaySettings): string | Pending {
  const { file: path, runtime: asked } = spec
  if (isPending(path)) return path
  if (isPending(asked)) return asked
  return chooseRuntime(runtimes, { asked, file: files[path]?.file ?? path })
}

const CODE_CHARACTERS = 12
/** The beginning of its hash. */
const codeText = (code: { readonly source: string } | undefined): string =>
  createHash('sha256')
    .update(code?.source ?? '')
    .digest('hex')
    .slice(0, CODE_CHARACTERS)

/** Throws invalid_request: what the operation would not take. */
function requestOf(wish: Wish, settings: FunctionGatewaySettings): FunctionRequest {
  const { name, spec, files } = wish
  const runtime = runtimeOf(wish, settings)
  const { memory, timeout, route, energy_budget: budget } = spec
  const code = isPending(spec.file) ? undefined : files[spec.file]
  return parseFunctionRequest({
    name,
    ...code,
    route: route ?? `/${name}`,
    ...(!isPending(runtime) && { runtime }),
    memory: typeof memory === 'number' ? sizeText(memory) : limits.FUNCTION_MEMORY_DEFAULT,
    timeout_s:
      typeof timeout === 'number' ? timeout / SECOND_MS : limits.FUNCTION_TIMEOUT_S_DEFAULT,
    on: typeof spec.on === 'string' ? [spec.on] : [],
    schedule: typeof spec.schedule === 'string' ? spec.schedule : null,
    concurrency: spec.concurrency ?? null,
    env: { ...spec.env, ...secretsOf(spec.secret) },
    ...(typeof budget === 'bigint' && { energy_budget: printEnergyPerDay(budget) }),
  })
}

type FunctionVersionRow = {
  readonly version: number
  readonly route: string
  readonly runtime: string
  readonly memory_bytes: string
  readonly timeout_s: number
  readonly buckets: readonly string[]
  readonly schedule: string | null
  readonly concurrency: number | null
  readonly sealed_env: string
  readonly source: string
}

const VERSION = `select version, route, runtime, memory_bytes::text, timeout_s, buckets, schedule, concurrency, sealed_env, source
  from function_versions where function = $1 and version = $2`

async function findIt(
  state: Queryable,
  settings: FunctionGatewaySettings,
  account: string,
  name: string,
): Promise<FoundResource | undefined> {
  const row = await SHOWN_FUNCTIONS.named(state, account, name)
  if (row === undefined) return undefined
  const { rows } = await state.query<FunctionVersionRow>(VERSION, [row.id, versionThere(row)])
  const shown = SHOWN_FUNCTIONS.replyOf(row, settings)
  return {
    id: row.id,
    attributes: { ...foundBudget(shown), ...(rows[0] && attributesOf(rows[0], settings, account)) },
    outputs: { id: row.id, url: shown.url },
    progress: progressOfVersions(shown),
  }
}

function attributesOf(
  row: FunctionVersionRow,
  { environmentKey }: FunctionGatewaySettings,
  account: string,
): StackAttributes {
  const env = openVariables(row.sealed_env, { kind: 'function', account, environmentKey })
  return {
    code: codeText(row),
    runtime: row.runtime,
    memory: sizeText(Number(row.memory_bytes)),
    timeout: `${row.timeout_s}s`,
    route: row.route,
    on: row.buckets.map(objectsOf).join(', ') || NONE,
    schedule: row.schedule ?? NONE,
    ...(row.concurrency !== null && { concurrency: String(row.concurrency) }),
    ...variableAttributes('env', env),
  }
}
