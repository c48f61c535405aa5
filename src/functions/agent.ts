// Functions in the agent: the cells that the ingress wakes, and the reconciler that makes versions live.
import { urlOfAccount, type FunctionsAddress } from '#contract/functions/functions-address.ts'
import {
  FUNCTION_LOG_LINES_MAX,
  FUNCTION_MEMORIES,
  FUNCTION_MEMORY_DEFAULT,
} from '#contract/functions/function-limits.ts'
import { bytesOfSize } from '#contract/values/sizes.ts'
import { invariant } from '#base/errors.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { askTenant } from '#node/cell-specs.ts'
import { ownHosts } from '#ingress/own-hosts.ts'
import { functionsAddress } from '#node/functions-address.ts'
import type { ServedResources } from '#node/ingress.ts'
import { removals } from '#node/removals.ts'
import { reconcile, type ReconcilerDeps } from '#resources/reconciler.ts'
import { endOpenIntervals } from '#resources/intervals.ts'
import { createLogKeeper, type LogKeeper } from '#resources/keep-logs.ts'
import { heldOf } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import { FUNCTION_CELLS, functionOfCell, SPARE_CELLS } from './cell-name.ts'
import { createFunctions, type Functions } from './functions.ts'
import { createLocalDriver, spareCell } from './local-driver.ts'
import type { DueRun } from './runs/attempt.ts'
import { runFunctions, type RunsDeps } from './runs/run-functions.ts'
import { findRuntimes, node24 } from './runtimes.ts'
import { environmentKeyOf, type FunctionGatewaySettings } from './settings.ts'
import { createSpares, type Spares } from './spares.ts'

export const FUNCTIONS_AGENT: AgentProduct = { name: 'functions', open }

async function open(core: AgentCore): Promise<AgentPart> {
  const { config, data, state, wakes, log, cells, place, accountCells, ingress, egress } = core
  const address = cells.isolation.admitsTenants ? functionsAddress(core) : undefined
  const environmentKey = environmentKeyOf(data.secrets.state)
  const runtimes = findRuntimes()
  const settings: FunctionGatewaySettings = {
    address,
    runtimes: [...runtimes.keys()],
    environmentKey,
    region: config.region,
    ownHosts: ownHosts(core),
  }
  const logs = logsOf(core)
  const spares = sparesOf(core)
  const driver = createLocalDriver({
    cells,
    place,
    runtimes,
    egress,
    spares,
    admit: accountCells.admit,
    line: logs.add,
  })
  const functions: Functions = createFunctions({
    state,
    wakes,
    log,
    driver,
    environmentKey,
    idleMs: config.functionIdleSeconds * 1000,
    replaced: (id) => served?.replace(id),
  })
  // The ingress may answer for other kinds: without it no request starts a function here.
  const served =
    address &&
    ingress.serve({
      kind: 'function',
      use: (resource, signal, _, begun) => functions.use(resource, signal, begun),
      late: (id) => void functions.unblock(id),
    })
  await endOpenIntervals(core, 'function')
  const remove: ReconcilerDeps['remove'] = ({ id }) => functions.remove(id)
  if (address === undefined || served === undefined)
    return { gateway: { settings }, ...removals(core, 'function', remove) }
  endUnpaid(core, functions, served)
  if (await hasFunctions(state)) {
    spares.fill()
    await served.ready()
  }
  const runs = runsOf(core, { functions, line: logs.add, address })
  const ending = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  return {
    gateway: { settings },
    cells: [FUNCTION_CELLS, SPARE_CELLS].map((name) => ({ stage: 'workers' as const, name })),
    async start() {
      running = Promise.all([
        logs.run(ending.signal),
        runFunctions(runs, ending.signal),
        reconcileFunctions(core, { functions, served, remove }, ending.signal),
      ])
    },
    async close() {
      ending.abort()
      spares.close()
      functions.close()
      await running
    },
  }
}

/** The logs of functions, with the refusals of the egress proxy among their lines. */
function logsOf({ state, log, egress }: AgentCore): LogKeeper {
  const logs = createLogKeeper({
    state,
    log,
    linesMax: FUNCTION_LOG_LINES_MAX,
    ownLevel: 'warn',
  })
  egress.onFailure(FUNCTION_CELLS, ({ cell, text }) =>
    logs.add({
      resource: functionOfCell(cell),
      source: null,
      level: 'warn',
      text,
      isOwn: true,
    }),
  )
  return logs
}

async function hasFunctions(state: Queryable): Promise<boolean> {
  const { rows } = await state.query(
    "select from resources where kind = 'function' and desired <> 'deleted' limit 1",
  )
  return rows.length > 0
}

function sparesOf({ cells, place, log, config, egress }: AgentCore): Spares {
  const memoryBytes = bytesOfSize(FUNCTION_MEMORY_DEFAULT, FUNCTION_MEMORIES)
  invariant(memoryBytes !== undefined, 'the default is one of the memories')
  return createSpares({
    cells,
    log,
    count: config.functionSpares,
    async specOf(name, user) {
      const outlet = await egress.outletOf(undefined)
      return spareCell(node24(memoryBytes), place, { name, user, memoryBytes, outlet })
    },
    ask: ({ socket }, signal) => askTenant(socket, '/-/ready', signal),
  })
}

const runsOf = (
  { state, log, presignedUrl }: AgentCore,
  {
    functions,
    line,
    address,
  }: Pick<RunsDeps, 'functions' | 'line'> & { readonly address: FunctionsAddress },
): RunsDeps => ({
  state,
  log,
  functions,
  line,
  urlOf: ({ account, route }) => `${urlOfAccount(address, account)}${route}`,
  async payloadOf({ event, data, account, deployed_by: token }) {
    if (event === 'schedule' || token === null) return data
    const url = await presignedUrl({ account, token, ...objectOf(data) })
    return { ...data, presigned_url: url }
  },
})

/** Works until the signal aborts. Never rejects. */
const reconcileFunctions = (
  { state, log }: AgentCore,
  {
    functions,
    served,
    remove,
  }: {
    readonly functions: Functions
    readonly served: ServedResources
    readonly remove: ReconcilerDeps['remove']
  },
  signal: AbortSignal,
): Promise<void> =>
  reconcile(
    {
      state,
      log,
      kind: 'function',
      async deploy(resource, until, aside) {
        await served.ready()
        served.again(resource.id)
        return await functions.deploy(resource, until, aside)
      },
      async suspend(resource) {
        const held = await heldOf(state, resource.id)
        served.suspend(resource, held)
        await functions.stop(resource.id, held === 'balance' ? 'balance' : 'suspended')
      },
      remove,
    },
    signal,
  )

/** Functions whose energy cannot be paid end, and requests get the reason. */
function endUnpaid(
  { accountCells }: AgentCore,
  functions: Pick<Functions, 'stop'>,
  served: ServedResources,
): void {
  accountCells.onUnpaid(FUNCTION_CELLS, {
    tell: ({ spec }, why) => served.refuse(functionOfCell(spec.name), why),
    async stop({ spec }, why) {
      const id = functionOfCell(spec.name)
      const cause = why.code === 'budget_exhausted' ? 'budget' : 'balance'
      // The next request asks the agent in any case: a refusal that stays would outlast new funds.
      await functions.stop(id, cause).finally(() => served.allow(id))
    },
  })
}

const objectOf = ({ bucket = '', key = '' }: DueRun['data']) => ({ bucket, key })
