// The cell that runs background tasks: under the gateways' uid, as it deletes the blobs that they wrote.
import type { AgentCore, AgentPart } from '#node/agent-part.ts'
import { programCell, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { PAID_WORK } from './paid-work.ts'
import type { StackConfig } from './stack-parts.ts'
import type { TasksConfig } from './tasks.ts'

export const TASKS_PROGRAM: Program = { file: 'processes/tasks.ts', flags: [ONE_COLLECTOR] }
export const TASKS_CELL = 'tasks'

type TasksNeeds = {
  /** The parts by the product's name. */
  readonly parts: Readonly<Record<string, NonNullable<AgentPart['tasks']>>>
  /** Settings of the parts of description files. */
  readonly stack: StackConfig['settings']
}

/** Starts the cell with the settings that the agent halves give; resolves when it answers. */
export async function startTasks(
  core: AgentCore,
  { parts, stack }: TasksNeeds,
  signal: AbortSignal,
): Promise<void> {
  const { config, cells, data, place, address, meterName } = core
  const journalFolder = data.at('journals', TASKS_CELL)
  const paidJournalFolder = data.at('journals', PAID_WORK)
  const given = Object.entries(parts).map(([name, { settings }]) => [name, settings])
  const settings: Omit<TasksConfig, 'socket' | 'logLevel'> = {
    state: address,
    journalFolder,
    paidJournalFolder,
    journalSync: config.journalSync === 'sync',
    meter: meterName,
    stack: { secret: data.secrets.state, settings: stack },
    products: { ledger: { windowsDays: config.windowsDays }, ...Object.fromEntries(given) },
  }
  const cell = await cells.start(
    programCell(TASKS_PROGRAM, {
      name: TASKS_CELL,
      user: 'gateway',
      place,
      config: settings,
      socketGroup: TASKS_CELL,
      bills: true,
      doesUpkeep: true,
      writes: [
        journalFolder,
        paidJournalFolder,
        ...Object.values(parts).flatMap(({ writes = [] }) => writes),
      ],
      calls: [STATE_SOCKETS],
    }),
  )
  await cell.ready(AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]))
}
