// Journals of processes that this start does not have: a node that had two gateways and starts with one. No other part
// posts their records or ends their sessions. Such a session keeps its leases, and makes the state remember every
// change of credentials.
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { lockFile } from '#base/lock.ts'
import type { Logger } from '#base/log.ts'
import { createDisk } from '#charging/disk.ts'
import { replay } from '#charging/replay.ts'
import { createLedger } from '#ledger/ledger.ts'
import { isStateAway, type State } from '#state/connect.ts'
import { postEarlierLives } from './accounting.ts'

export type LeftDeps = {
  /** It holds a folder for each process. */
  readonly journals: string
  /** The processes of this start: each sees to its own. */
  readonly running: readonly string[]
  readonly meter: string
  readonly state: State
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Posts what they hold and ends their sessions, before anybody can spend what these had leased. A journal
 * that cannot be read is kept, with its session open, and alarmed: `journal_kept`. Throws when the state
 * is away.
 */
export async function settleLeftJournals(deps: LeftDeps): Promise<void> {
  const { journals, running, meter, state, log, signal } = deps
  const ledger = createLedger(state)
  const folders = leftFolders(journals)
  for (const process of folders.filter((name) => !running.includes(name))) {
    signal.throwIfAborted()
    const reason = await settleLeftJournal(deps, process).catch((error: unknown) => {
      if (isStateAway(error)) throw error
      return messageOf(error)
    })
    if (reason === undefined) continue
    log.error('Kept the journal of a process that this start does not have', { process, reason })
    await ledger.alarm('journal_kept', { process, reason })
  }
  const { rows } = await state.query<{ process: string }>(
    'select process from sessions where closed_at is null and process <> all ($1)',
    [[...running, ...folders]],
  )
  // Their folder is gone, so there is nothing to post; it is alarmed what that may be.
  for (const { process } of rows) await replay(ledger, process, [], meter)
}

/** Of which processes there are journals. */
export const leftFolders = (journals: string): string[] =>
  readdirSync(journals, { withFileTypes: true })
    // A link may lead to one, on another disk.
    .filter((entry) => !entry.isFile())
    .map(({ name }) => name)

/** Posts one of them. Resolves with why something of it is kept, or with nothing; rejects where it cannot be read. */
export async function settleLeftJournal(
  deps: Pick<LeftDeps, 'journals' | 'meter' | 'state' | 'log'>,
  process: string,
): Promise<string | undefined> {
  const { journals, meter, state, log } = deps
  const folder = join(journals, process)
  const file = join(folder, 'lock')
  // The lock file is never made here: it would have the wrong owner. A holder without a lock file has ended, because
  // we hold the lock of the data folder.
  await using _ = existsSync(file) && lstatSync(file).isFile() ? await lockFile(file) : undefined
  const disk = createDisk(folder)
  const ledger = createLedger(state)
  const { unknown } = await postEarlierLives({ process, meter, log, disk, ledger })
  return unknown.length === 0 ? undefined : `sessions that are not known: ${unknown.join(' ')}`
}
