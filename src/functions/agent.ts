// Functions in the agent: the ingress, the cells that it wakes, and the reconciler that makes versions live.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { onceDone } from '#base/once-done.ts'
import { makeOpenFolder } from '#cells/place.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { functionsAddress } from '#node/functions-address.ts'
import { reconcile } from '#resources/reconciler.ts'
import { endOpenIntervals } from '#resources/intervals.ts'
import { heldOf } from '#resources/resource.ts'
import { FUNCTION_AGENT_SOCKETS, refusalLine, suspendedLine } from './awake/awake.ts'
import { createFunctionAwakeServer, type FunctionAwakeServer } from './awake/awake-server.ts'
import { FUNCTION_CELLS, functionOfCell } from './cell-name.ts'
import { createFunctions, type Functions } from './functions.ts'
import { INGRESS, INGRESS_CELL, startIngress } from './ingress-cell.ts'
import { createLogKeeper } from './keep-logs.ts'
import { createLocalDriver } from './local-driver.ts'
import { environmentKeyOf, type FunctionGatewaySettings } from './settings.ts'

export const FUNCTIONS_AGENT: AgentProduct = { name: 'functions', programs: [INGRESS], open }

async function open(core: AgentCore): Promise<AgentPart> {
  const { config, data, state, log, cells, place, accountCells } = core
  // Without namespaces the code of one account could read the files of another.
  const address = cells.level === 'plain' ? undefined : functionsAddress(core)
  const environmentKey = environmentKeyOf(data.secrets.state)
  const settings: FunctionGatewaySettings = { address, environmentKey, region: config.region }
  if (address === undefined) return { gateway: { settings } }
  const logs = createLogKeeper({ state, log })
  const driver = createLocalDriver({ cells, place, admit: accountCells.admit, line: logs.add })
  const functions: Functions = createFunctions({
    state,
    log,
    driver,
    environmentKey,
    idleMs: config.functionIdleSeconds * 1000,
    ending: (id) => awake.end(id),
  })
  const awake = createFunctionAwakeServer({ state, log, instances: functions })
  endUnpaid(core, functions, awake)
  const folder = join(data.runFolder, FUNCTION_AGENT_SOCKETS)
  makeOpenFolder(folder)
  const agent = {
    socketPath: join(folder, 'awake.sock'),
    secret: randomBytes(32).toString('base64url'),
  }
  await endOpenIntervals(state, 'function')
  // A node without functions has no ingress.
  const listening = onceDone(() => awake.listen(agent))
  const starting = onceDone(() => startIngress(core, { agent, address }))
  const front = async () => {
    await listening()
    await (await starting()).ready(AbortSignal.timeout(START_TIMEOUT_MS))
  }
  const { rows } = await state.query(
    "select from resources where kind = 'function' and desired <> 'deleted' limit 1",
  )
  if (rows.length > 0) await front()
  const ending = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  return {
    gateway: { settings },
    cells: [
      { stage: 'gateways', name: INGRESS_CELL },
      { stage: 'workers', name: FUNCTION_CELLS },
    ],
    async start() {
      running = Promise.all([
        logs.run(ending.signal),
        reconcileFunctions(core, { functions, awake, front }, ending.signal),
      ])
    },
    async close() {
      ending.abort()
      functions.close()
      await running
      await awake.close()
    },
  }
}

/** Works until the signal aborts. Never rejects. */
const reconcileFunctions = (
  { state, log }: AgentCore,
  {
    functions,
    awake,
    front,
  }: {
    readonly functions: Functions
    readonly awake: FunctionAwakeServer
    readonly front: () => Promise<void>
  },
  signal: AbortSignal,
): Promise<void> =>
  reconcile(
    {
      state,
      log,
      kind: 'function',
      async deploy(resource) {
        await front()
        await functions.deploy(resource, signal)
      },
      async suspend({ id, name }) {
        const held = await heldOf(state, id)
        awake.end(id, suspendedLine(name, held))
        await functions.stop(id, held === 'balance' ? 'balance' : 'suspended')
      },
      remove: ({ id }) => functions.remove(id),
    },
    signal,
  )

/** Functions whose energy cannot be paid end, and requests get the reason. */
function endUnpaid(
  { accountCells, state }: AgentCore,
  functions: Pick<Functions, 'stop'>,
  awake: Pick<FunctionAwakeServer, 'end' | 'refuse'>,
): void {
  accountCells.onUnpaid(FUNCTION_CELLS, {
    async tell({ spec }, why) {
      const id = functionOfCell(spec.name)
      const { rows } = await state.query<{ name: string }>(
        'select name from resources where id = $1',
        [id],
      )
      const line = refusalLine(why, rows[0]?.name ?? id)
      if (line === undefined) return
      awake.refuse(id, line)
      awake.end(id, line)
    },
    async stop({ spec }, why) {
      const id = functionOfCell(spec.name)
      await functions.stop(id, why.code === 'budget_exhausted' ? 'budget' : 'balance')
      awake.refuse(id, undefined)
    },
  })
}
