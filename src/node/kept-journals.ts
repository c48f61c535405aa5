// Journals that a start kept, for the operator: a list, another attempt to post them, and giving them up. A journal
// given up is set aside, never removed: a state that knows its sessions may come back. Damaged files are kept too,
// for an examination of the disk: their readable records are posted.
import { raiseAlarm } from '#state/alarms.ts'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { createDisk, type Disk } from '#charging/disk.ts'
import { decodeSegment } from '#charging/journal-segment.ts'
import { readJournals, type LeftBehind } from '#charging/journal.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { fault } from '#contract/errors.ts'
import { createLedger } from '#ledger/ledger.ts'
import { isStateAway, type Queryable } from '#state/connect.ts'
import { DAMAGED } from './accounting.ts'
import { leftFolders, settleLeftJournal, type LeftDeps } from './left-journals.ts'

type Deps = Omit<LeftDeps, 'signal'>

type KeptJournal = ControlAnswer<'journal.list'>[number]

export type KeptJournals = {
  list(): Promise<KeptJournal[]>
  /** Throws `not_found` where nothing is kept of the process, `invalid_request` where it cannot be posted. */
  post(process: string): Promise<{ process: string; posted: true }>
  /** Posts it where that can be done; else ends its session and sets it aside. Throws `not_found`. */
  drop(process: string): Promise<{ process: string; posted: boolean; aside?: string }>
}

export function createKeptJournals(deps: Deps): KeptJournals {
  const { running, journals } = deps

  const list = async (): Promise<KeptJournal[]> => {
    const found: KeptJournal[] = []
    for (const process of leftFolders(journals)) {
      const kept = await (running.includes(process) ? keptBeside : keptLeft)(deps, process)
      const whole = await withDamaged(deps, process, kept)
      if (whole !== undefined) found.push(whole)
    }
    return found
  }

  const one = async (process: string): Promise<KeptJournal> => {
    const kept = (await list()).find((each) => each.process === process)
    if (kept === undefined)
      throw fault('not_found', `Could not find a kept journal: nothing is kept of "${process}"`)
    return kept
  }

  /** Resolves with why it cannot be posted. */
  const settle = async (kept: KeptJournal): Promise<string | undefined> => {
    if (kept.running || kept.files.every(isDamaged)) return kept.reason
    const reason = await settleLeftJournal(deps, kept.process).catch((error: unknown) => {
      if (isStateAway(error)) throw error
      return messageOf(error)
    })
    if (reason === undefined) await acknowledge(deps.state, kept.process, ['journal_kept'])
    return reason
  }

  return {
    list,
    async post(process) {
      const reason = await settle(await one(process))
      if (reason !== undefined)
        throw fault('invalid_request', `Could not post the journal of ${process}: ${reason}`)
      return { process, posted: true }
    },
    async drop(process) {
      const reason = await settle(await one(process))
      if (reason === undefined) return { process, posted: true }
      // Some of it may have been posted.
      return { process, posted: false, aside: await giveUp(deps, await one(process), reason) }
    },
  }
}

/** Journals of a process of this start: sessions that the state does not know. */
async function keptBeside(deps: Deps, process: string): Promise<KeptJournal | undefined> {
  const disk = createDisk(join(deps.journals, process))
  const lives = readJournals(disk)
  const sessions = await unknownOf(
    deps,
    lives.map(({ session }) => session),
  )
  if (sessions.length === 0) return undefined
  const unknown = lives.filter(({ session }) => sessions.includes(session))
  return {
    process,
    running: true,
    reason: NOT_KNOWN,
    sessions,
    records: countOf(unknown),
    files: unknown.flatMap(({ files }) => files),
  }
}

/** Of a process that this start does not have: all that is there. */
async function keptLeft(deps: Deps, process: string): Promise<KeptJournal | undefined> {
  const open = (await createLedger(deps.state).openSessionOf(process))?.session
  const ended = open === undefined ? [] : [open]
  let files: string[] = []
  try {
    const disk = createDisk(join(deps.journals, process))
    files = filesOf(disk)
    if (files.length === 0) return undefined
    const lives = readJournals(disk)
    const found = lives.map(({ session }) => session)
    const unknown = await unknownOf(deps, found)
    return {
      process,
      running: false,
      reason: unknown.length > 0 ? NOT_KNOWN : await alarmed(deps, process),
      sessions: [...new Set([...found.filter((session) => session !== ''), ...ended])],
      records: countOf(lives),
      files,
    }
  } catch (error) {
    if (isStateAway(error)) throw error
    const reason = messageOf(error)
    return { process, running: false, reason, sessions: ended, records: null, files }
  }
}

/** With the damaged files that are kept of the process. */
async function withDamaged(
  deps: Deps,
  process: string,
  kept: KeptJournal | undefined,
): Promise<KeptJournal | undefined> {
  const damaged = damagedFiles(join(deps.journals, process))
  if (damaged.size === 0) return kept
  const sessions = [...new Set(damaged.values())].filter((session) => session !== '')
  const { rows } = await deps.state.query<{ range: string }>(
    `select format('%s to %s of %s', first_seq, last_seq, session) as range from lost_records
     where session = any ($1) order by session, first_seq`,
    [sessions],
  )
  const lost = rows.length === 0 ? 'none' : rows.map(({ range }) => range).join(', ')
  const reason = `damaged, and all that can be read is posted; records lost: ${lost}`
  const running = deps.running.includes(process)
  const none = { process, running, reason: '', sessions: [], records: 0, files: [] }
  const one = kept ?? none
  return {
    ...one,
    reason: kept === undefined ? reason : `${kept.reason}; ${reason}`,
    sessions: [...new Set([...one.sessions, ...sessions])],
    files: [...one.files, ...damaged.keys()],
  }
}

/** Damaged files that were kept, each with its session; '' where that cannot be read. */
function damagedFiles(folder: string): Map<string, string> {
  try {
    const disk = createDisk(folder)
    const names = disk.list().filter(isDamaged)
    return new Map(names.map((name) => [name, decodeSegment(disk.read(name))?.session ?? '']))
  } catch {
    // The list of the process's own files has the reason why it cannot be read.
    return new Map()
  }
}

const isDamaged = (name: string): boolean => name.startsWith(DAMAGED)
const filesOf = (disk: Disk): string[] =>
  disk.list().filter((name) => name !== 'lock' && !name.startsWith(ASIDE) && !isDamaged(name))
const countOf = (lives: readonly LeftBehind[]): number =>
  lives.reduce((sum, { records }) => sum + records.length, 0)

const ASIDE = 'aside-'
const NOT_KNOWN = 'sessions that this state does not know'

async function unknownOf({ state }: Deps, sessions: readonly string[]): Promise<string[]> {
  const named = [...new Set(sessions)].filter((session) => session !== '')
  const { rows } = await state.query<{ id: string }>(
    'select id from unnest($1::text[]) as id where id not in (select id from sessions) order by 1',
    [named],
  )
  return rows.map(({ id }) => id)
}

/** The start's alarm about the journal. */
async function alarmed({ state }: Deps, process: string): Promise<string> {
  const { rows } = await state.query<{ reason: string }>(
    `select detail ->> 'reason' as reason from alarms
     where kind = 'journal_kept' and detail ->> 'process' = $1 order by id desc limit 1`,
    [process],
  )
  return rows[0]?.reason ?? 'it was not posted'
}

/** Sets it aside, then ends its session: the other way round a start would take its records for lost. */
async function giveUp(deps: Deps, kept: KeptJournal, reason: string): Promise<string> {
  const { state, log } = deps
  const { process, sessions, records, files } = kept
  // Beside them: the folder may lie on another disk, where a file cannot be moved to from here.
  const journals = join(deps.journals, process)
  const aside = join(journals, `${ASIDE}${new Date().toISOString().replaceAll(':', '')}`)
  mkdirSync(aside, { mode: 0o700 })
  for (const name of files) renameSync(join(journals, name), join(aside, name))
  const open = kept.running ? undefined : await createLedger(state).openSessionOf(process)
  await state.transaction(async (transaction) => {
    if (open !== undefined)
      await transaction.query('select write_off_session($1, $2)', [open.session, reason])
    // The operator's own act is acknowledged at once; the row is the record of it.
    await raiseAlarm(transaction, 'journal_dropped', { process, reason, sessions, records, aside })
    await acknowledge(transaction, process, [...KINDS, 'journal_dropped'], open?.session)
  })
  log.warn('A journal was given up by the operator', { process, reason, sessions, aside })
  return aside
}

/** Alarms of the journals in the list. Records that were lost are an alarm of their own, and stay one. */
const KINDS = ['journal_kept', 'journal_damaged']

/** After this command neither the journal nor the session that was written off for it needs the operator. */
const acknowledge = async (
  state: Queryable,
  process: string,
  kinds: readonly string[],
  session?: string,
) =>
  await state.query(
    `update alarms set acknowledged_at = ledger_now() where acknowledged_at is null and (
       kind = any ($3) and detail ->> 'process' = $1
       or kind = 'session_written_off' and detail ->> 'session' = $2)`,
    [process, session ?? null, kinds],
  )
