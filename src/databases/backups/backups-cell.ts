// The process of backups, which stores logs, as a cell: under the gateways' uid, as it writes and reads the blobs that they do.
import { join } from 'node:path'
import type { BlobSettings } from '#blobs/stores.ts'
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

/** The stores of backups, settled. Throws what settleBlobStores() throws. */
export const backupStores = ({ config, data, state, log }: AgentCore): Promise<BlobSettings> =>
  settleBlobStores({ config, data, state, log, signal: AbortSignal.timeout(SETTLE_MS) })

export async function startBackups(
  core: AgentCore,
  { agent, blobs }: Pick<BackupsConfig, 'agent' | 'blobs'>,
): Promise<Cell> {
  const { cells, config, data, place, address } = core
  const settings: Omit<BackupsConfig, 'socket' | 'logLevel'> = {
    state: address,
    blobs,
    secret: data.secrets.state,
    agent,
    superuserPassword: superuserPasswordOf(data.secrets.state),
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
      worksForCells: true,
      writes: [blobs.folder],
      calls: [STATE_SOCKETS, DATABASE_SOCKETS, AGENT_SOCKETS],
    }),
  )
}
