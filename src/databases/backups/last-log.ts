// The last part of a database's log: its files go only when all of it is stored.
import { existsSync } from 'node:fs'
import { sleep } from '#base/clock.ts'
import type { Servers } from '#databases/server/servers.ts'
import type { AgentCore } from '#node/agent-part.ts'
import type { Resource } from '#resources/resource.ts'
import { BackupFault } from './plan.ts'

/** A server that has just started is followed within this time. */
const FOLLOWED_MS = 5000

/** From a start on: until the process of backups says that the whole log of this life is stored. */
export const notArchived = ({ state, log }: AgentCore, id: string): Promise<unknown> =>
  state
    .query(
      `update databases set is_archived = false,
         log_stored_at = case when is_archived then ledger_now() else log_stored_at end where id = $1`,
      [id],
    )
    .catch((error: unknown) => log.warn('A start was not recorded', { id, error }))

/**
 * Resolves when the log of a stopped database is stored, or when it has no backup that needs it. Its server runs once
 * more where the log was not stored in time. Throws a BackupFault: the files stay, and the caller tries again.
 */
export async function keepLastLog(
  core: AgentCore,
  servers: Servers,
  resource: Resource,
): Promise<void> {
  const isWaiting = async () => {
    const { rowCount } = await core.state.query(
      `select from databases d where id = $1 and not is_archived
         and exists (select from database_backups b where b.database = d.id and b.status = 'done')`,
      [resource.id],
    )
    return rowCount > 0 && existsSync(core.data.at('databases', resource.id))
  }
  if (!(await isWaiting())) return
  await servers.alone(resource, () => sleep(FOLLOWED_MS))
  if (await isWaiting()) throw new BackupFault('The last part of the log is not stored')
}
