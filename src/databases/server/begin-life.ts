// The record of a life of a server, which says that its log is not stored.
import type { Queryable } from '#state/connect.ts'

/**
 * Begins a life of a server, before anybody can write. Until the process of backups says that the log of this life is
 * stored, no restore takes the stored log as the whole log.
 */
export const beginLife = (state: Queryable, id: string): Promise<unknown> =>
  state.query(
    `update databases set is_archived = false, lives = lives + 1,
       log_stored_at = case when is_archived then ledger_now() else log_stored_at end where id = $1`,
    [id],
  )
