// The process of backups as a cell: under the gateways' uid, as it writes and reads the blobs that they do.
import { join } from 'node:path'
import type { Cell } from '#cells/cell.ts'
import { AGENT_SOCKETS } from '#databases/agent-socket/awake.ts'
import { superuserPasswordOf } from '#databases/logins/passwords.ts'
import type { BackupsConfig } from '#databases/programs/backups.ts'
import { DATABASE_SOCKETS } from '#databases/server/servers.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { programCell } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { settleBlobStores } from '#objects/settle-blob-stores.ts'

export const BACKUPS: Program = { file: 'databases/programs/backups.ts', flags: [ONE_COLLECTOR] }
export const BACKUPS_CELL = 'db-backups'
const SETTLE_MS = 60_000

/** Where restored clusters are until their servers start. */
export const restoredFolderOf = ({ data }: Pick<AgentCore, 'data'>): string =>
  data.at('databases', 'restored')

export async function startBackups(core: AgentCore, agent: BackupsConfig['agent']): Promise<Cell> {
  const { cells, config, data, state, log, place, address } = core
  const signal = AbortSignal.timeout(SETTLE_MS)
  const blobs = await settleBlobStores({ config, data, state, log, signal })
  const restoredFolder = restoredFolderOf(core)
  const journalFolder = data.at('journals', BACKUPS_CELL)
  const settings: Omit<BackupsConfig, 'socket' | 'logLevel'> = {
    state: address,
    meter: core.meterName,
    journalFolder,
    journalSync: config.journalSync === 'sync',
    blobs,
    secret: data.secrets.state,
    agent,
    superuserPassword: superuserPasswordOf(data.secrets.state),
    restoredFolder,
    socketsFolder: join(data.runFolder, DATABASE_SOCKETS),
    restMs: config.dbArchiveSeconds * 1000,
  }
  return await cells.start(
    programCell(BACKUPS, {
      name: BACKUPS_CELL,
      user: 'gateway',
      place,
      config: settings,
      socketGroup: BACKUPS_CELL,
      bills: true,
      writes: [blobs.folder, restoredFolder, journalFolder],
      calls: [STATE_SOCKETS, DATABASE_SOCKETS, AGENT_SOCKETS],
    }),
  )
}
