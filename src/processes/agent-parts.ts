// The products of the agent, opened in the order of the list and put together: control.sock with their
// operations, what they start in the background, and their stop.
import { join } from 'node:path'
import { messageOf } from '#base/errors.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { startBallast, type Ballast } from '#node/ballast.ts'
import { demandHandlers, startControl, type ControlPart } from '#node/control/control.ts'
import { tellDisk } from '#node/disk-full.ts'
import { gatewayNames } from '#node/cell-names.ts'
import { CELL_STAGES, type CellStage, type StopBudget } from '#node/stop-budget.ts'
import type { GatewaysNeeds } from './gateways.ts'
import { stackSettingsOf } from './stack-parts.ts'
import { startTasks, TASKS_CELL } from './tasks-cell.ts'

export interface AgentParts {
  /** The agent parts' messages to their gateway halves, by the product's name. */
  readonly gateway: GatewaysNeeds
  /** Serves the operator's operations. */
  control(): Promise<{ close(): Promise<void> }>
  /** Begins the background; `complete` is called once, when all parts have started or failed, with the failed ones. */
  start(complete: (failures: readonly string[]) => void): void
  /** Gateways and ingress end first, then running work, then the other cells: a cell ends before the cells that it calls. */
  stop(budget: StopBudget): Promise<void>
}

const CONTROL_SOCKET = 'control.sock'
const BALLAST_FILE = 'ballast'
const MIB = 1024 * 1024

/** Throws what a product throws that cannot open. */
export async function openAgentParts(
  products: readonly AgentProduct[],
  core: AgentCore,
  signal: AbortSignal,
): Promise<AgentParts> {
  const { config, data, cells, log } = core
  const parts: { readonly name: string; readonly part: AgentPart }[] = []
  for (const { name, open } of products) parts.push({ name, part: await open(core, signal) })
  const stopping = new AbortController()
  let ballast: Ballast | undefined
  let running: Promise<unknown> = Promise.resolve()

  const startPart = async ({ name, part }: (typeof parts)[number]): Promise<readonly string[]> => {
    try {
      return (await part.start?.(stopping.signal)) ?? []
    } catch (error) {
      return [`${name}: ${messageOf(error)}`]
    }
  }

  const owned: NonNullable<AgentPart['cells']> = [
    ...gatewayNames(config).map((name) => ({ stage: 'gateways' as const, name })),
    { stage: 'workers', name: TASKS_CELL },
    ...parts.flatMap(({ part }) => part.cells ?? []),
  ]
  const endCells = async (stage: CellStage, budget: StopBudget) => {
    const names = owned.filter((one) => one.stage === stage).map(({ name }) => name)
    const ending = cells
      .list()
      .filter((cell) => names.some((name) => cell.spec.name.startsWith(name)))
    const graceMs = budget.graceMs(stage)
    await Promise.all(ending.map((cell) => cell.stop(graceMs)))
  }

  return {
    gateway: Object.fromEntries(parts.map(({ name, part }) => [name, part.gateway ?? {}])),
    control() {
      const handlers = Object.assign({}, ...parts.map(({ part }) => part.control)) as ControlPart
      demandHandlers(handlers)
      return startControl({ socket: join(data.runFolder, CONTROL_SOCKET), handlers, log })
    },
    start(complete) {
      ballast = startBallast({
        path: data.at(BALLAST_FILE),
        bytesMax: config.ballastMib * MIB,
        log,
        tell: (isFull) => tellDisk(cells, isFull, log),
      })
      const given = parts.flatMap(({ name, part: { tasks } }) => (tasks ? [[name, tasks]] : []))
      const settings = parts.map(({ name, part }) => [name, part.gateway?.settings])
      const needs = {
        parts: Object.fromEntries(given),
        stack: stackSettingsOf(Object.fromEntries(settings)),
      }
      const start = (signal: AbortSignal) => startTasks(core, needs, signal)
      const all = [...parts, { name: TASKS_CELL, part: { start } }]
      running = Promise.all(all.map(startPart)).then((failures) => {
        if (!stopping.signal.aborted) complete(failures.flat())
      })
    },
    async stop(budget) {
      const [first, ...later] = CELL_STAGES
      // They take requests until then, and their last requests need all that is below.
      await endCells(first, budget)
      stopping.abort()
      await ballast?.stop()
      for (const { part } of parts) await part.close?.()
      await running
      for (const stage of later) await endCells(stage, budget)
    },
  }
}
