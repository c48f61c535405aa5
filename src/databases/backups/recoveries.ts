// Restored databases on their way from their files to their first server, beside the reconciler: a long log takes long.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { DatabaseRoles } from '#databases/server/make-database.ts'
import type { Servers } from '#databases/server/servers.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { isUnpayable } from '#charging/faults.ts'
import { cellNameOf } from '#databases/server/cell-name.ts'
import { NotYet } from '#resources/reconciler.ts'
import type { Resource } from '#resources/resource.ts'
import { raiseAlarm } from '#state/alarms.ts'
import { restoredFolderOf } from './backups-cell.ts'
import { BackupFault } from './plan.ts'
import { isRecovering, markRecovered, placeRestored, unmark } from './placed.ts'
import { restoredOf, type Restored } from './restored.ts'

type Restoring = Resource & DatabaseRoles

export interface Recoveries {
  /** Throws NotYet until a restored database is recovered, and why it cannot be: also where it cannot be paid now. */
  recover(database: Restoring, signal: AbortSignal): Promise<void>
  /** Ends a recovery that goes on. */
  cancel(id: string): Promise<void>
  /** Ends a recovery that goes on, and removes the files that wait for one. */
  remove(id: string): Promise<void>
}

/** A fault of the service is tried so often, with the rests of the reconciler between. */
const TRIES_MAX = 5
const UNKNOWN = 'the service could not recover it'
const INTERNAL = 500

type RecoveryCore = Pick<AgentCore, 'state' | 'log' | 'data' | 'accountCells'>
type RecoveryServers = Pick<Servers, 'recover' | 'remove'>

export function createRecoveries(core: RecoveryCore, servers: RecoveryServers): Recoveries {
  const { state, log, data, accountCells } = core
  /** The tries of each restore that failed for another reason than its backup. */
  const tries = new Map<string, number>()
  const running = new Map<string, { readonly ending: AbortController; done: Promise<void> }>()

  const waiting = (id: string) => join(restoredFolderOf(core), id)
  async function cancel(id: string): Promise<void> {
    const one = running.get(id)
    one?.ending.abort()
    await one?.done
  }

  const placeOf = (id: string) => data.at('databases', id)

  async function begin(database: Restoring, restored: Restored, signal: AbortSignal) {
    const { id } = database
    try {
      await bringBack(
        { core, servers },
        { database, restored, from: waiting(id), place: placeOf(id) },
        signal,
      )
    } catch (error) {
      if (signal.aborted) return
      // The next try says so, and goes on from the files as they are.
      if (isUnpayable(error)) return log.info('A recovery cannot be paid', { id })
      log.error('A restored database could not be recovered', { id, error })
      if (!(error instanceof BackupFault)) {
        const nth = (tries.get(id) ?? 0) + 1
        tries.set(id, nth)
        if (nth < TRIES_MAX) return
        const detail = { database: id, error: messageOf(error) }
        await raiseAlarm(state, 'database_restore_failed', detail, { key: id })
      }
      // A database that is restored in its own place may have files that the restore did not make.
      if (!isOwn(restored) || isRecovering(placeOf(id))) await servers.remove(id)
      await state.query(
        `with failed as (update database_restores set status = 'failed', reason = $2 where database = $1
           returning database)
         update databases set stored_bytes = 0, wal_bytes = 0 from failed where id = failed.database`,
        [id, reasonOf(error)],
      )
    }
    tries.delete(id)
    await state.query('select want_resource(id, desired) from resources where id = $1', [id])
  }

  return {
    async recover(database, signal) {
      const { id } = database
      const restored = await restoredOf(state, id)
      if (restored === undefined) return
      if (!running.has(id)) {
        await accountCells.admit(cellNameOf(id), database.account)
        const ending = new AbortController()
        const done = begin(database, restored, AbortSignal.any([signal, ending.signal]))
          .catch((error: unknown) => log.error('A restored database waits', { id, error }))
          .finally(() => running.delete(id))
        running.set(id, { ending, done })
      }
      throw new NotYet()
    },
    cancel,
    async remove(id) {
      await cancel(id)
      tries.delete(id)
      await rm(waiting(id), { recursive: true, force: true })
    },
  }
}

/** Moves the files to their place and recovers them. A restore in the own place ends where the files are there again. */
async function bringBack(
  {
    core: { state, log },
    servers,
  }: { readonly core: RecoveryCore; readonly servers: RecoveryServers },
  asked: {
    readonly database: Restoring
    readonly restored: Restored
    readonly from: string
    readonly place: string
  },
  signal: AbortSignal,
): Promise<void> {
  const { database, restored, from, place } = asked
  const { id } = database
  const placed = await placeRestored(from, place)
  if (placed === 'other' && isOwn(restored)) {
    // As after a disk that was only not mounted: the database goes on with them, and nothing is lost.
    log.warn('The files of a database are there again, so its restore ends', { id })
    await rm(from, { recursive: true, force: true })
    await state.query("update database_restores set status = 'done' where database = $1", [id])
    return
  }
  if (placed !== 'recovered') {
    await servers.recover(database, restored, signal)
    await markRecovered(place)
  }
  await state.query('select end_restore($1)', [id])
  await unmark(place)
}

const isOwn = (restored: Restored): boolean => restored.behind !== null

/** The account reads the reason: paths and names of the node stay in its log. */
const reasonOf = (error: unknown): string =>
  error instanceof BackupFault || (error instanceof ErgonError && error.status < INTERNAL)
    ? error.message
    : UNKNOWN
