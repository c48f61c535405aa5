// The cell that runs background tasks: under the gateways' uid, as it deletes the blobs that they wrote.
import type { AgentCore, AgentPart } from '#node/agent-part.ts'
import { programCell, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import type { TasksConfig } from './tasks.ts'

export const TASKS_PROGRAM: Program = { file: 'processes/tasks.ts', flags: [ONE_COLLECTOR] }
export const TASKS_CELL = 'tasks'

/** Starts the cell with the settings that the products give; resolves when the cell answers. */
export async function startTasks(
  core: AgentCore,
  parts: readonly NonNullable<AgentPart['tasks']>[],
  signal: AbortSignal,
): Promise<void> {
  const { config, cells, data, place, address, meterName } = core
  const journalFolder = data.at('journals', TASKS_CELL)
  const settings: Pick<
    TasksConfig,
    'state' | 'journalFolder' | 'journalSync' | 'meter' | 'windowsDays'
  > = {
    state: address,
    journalFolder,
    journalSync: config.journalSync === 'sync',
    meter: meterName,
    windowsDays: config.windowsDays,
  }
  const cell = await cells.start(
    programCell(TASKS_PROGRAM, {
      name: TASKS_CELL,
      user: 'gateway',
      place,
      config: Object.assign(settings, ...parts.map((part) => part.settings)),
      socketGroup: TASKS_CELL,
      writes: [journalFolder, ...parts.flatMap(({ writes }) => writes)],
      calls: [STATE_SOCKETS],
    }),
  )
  await cell.ready(AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]))
}
