// Long work on databases, with a bar on a terminal and lines of progress with --json: backups, and databases that are made from backups.
import { sleep } from '#base/clock.ts'
import type { ProgressBar } from '#base/progress-bar.ts'
import { apiDelete, apiGet, apiPost, replyOf } from './client.ts'
import {
  backupsPath,
  databasePath,
  getAwaited,
  RESTORE_STEPS,
  type Backup,
  type Database,
} from './databases.ts'
import { interruptible } from './interruptible.ts'
import { CommandError, EXIT, printJson, tell, tellStep, withProgressBar } from './output.ts'
import type { GlobalOptions } from './profile.ts'
import type { backupReply } from '#contract/databases/databases.ts'

const LOOK_MS = 250

/** Work with a bar that ^C leaves to the service, with these words. */
const barred = <T>(
  words: string,
  options: GlobalOptions,
  work: Parameters<typeof withProgressBar<T>>[0],
): Promise<T> => interruptible(words, () => withProgressBar(work, options))

/** Tells each text that differs from the one before, on a line without the bar. */
function createTeller(options: GlobalOptions, bar: ProgressBar, what: string) {
  let shown: string | null = null
  return (text: string | null) => {
    if (text !== null && text !== shown) {
      bar.erase()
      tellStep(options, `${what}: ${text}`)
    }
    shown = text
  }
}

/** Waits until a backup is done. Throws a CommandError with the reason of a failed one. */
export const waitForBackup = (options: GlobalOptions, name: string, id: string): Promise<Backup> =>
  barred(`The backup goes on: ergon db backup list ${name}`, options, async (bar) => {
    const what = `backup of ${name}`
    const tellReason = createTeller(options, bar, what)
    for (;;) {
      const backup = replyOf<typeof backupReply>(await apiGet(options, backupsPath(name, id)))
      if (backup.status === 'done') return backup
      if (backup.status === 'failed')
        throw new CommandError(`Could not back up ${name}: ${backup.reason}`, EXIT.failed)
      tellReason(backup.reason)
      bar.show(what, backup.done_bytes, backup.total_bytes ?? undefined)
      await sleep(LOOK_MS)
    }
  })

export type RestoreFrom = {
  readonly database: string
  readonly backup?: string
  readonly time?: string
}

/** Makes a database from backups and tells of it. A failed one is deleted: nothing is left of it. */
export async function makeFrom(
  options: GlobalOptions,
  made: {
    readonly verb: 'restore of' | 'clone'
    readonly name: string
    readonly size?: string
    readonly energy_budget?: string | null
    readonly from: RestoreFrom
  },
): Promise<void> {
  const { verb, ...wanted } = made
  await apiPost(options, '/v1/databases', wanted)
  const { name } = made
  const what = `${verb} ${name}`
  const database = await barred(
    `The service goes on: ergon db show ${name}`,
    options,
    async (bar) => {
      const tellStepOnce = createTeller(options, bar, what)
      const tellReason = createTeller(options, bar, what)
      // Kept behind the last step, until the database is deployed.
      let restore: Database['restore'] = null
      for (;;) {
        const found = await getAwaited(options, name)
        if (found.status === 'deployed') return found
        if (found.status === 'failed') return await giveUp(options, found, made.from.database)
        restore = found.restore ?? restore
        const { step = 'copy', done_bytes: done = 0, total_bytes: total } = restore ?? {}
        const words = RESTORE_STEPS[step] ?? null
        bar.show(what, done, total ?? undefined)
        if (words !== null) bar.erase()
        tellStepOnce(words)
        tellReason(found.reason)
        await sleep(LOOK_MS)
      }
    },
  )
  if (options.json === true) return printJson(database)
  tell(`${name} is ready: ergon db psql ${name}`)
}

async function giveUp(
  options: GlobalOptions,
  { name, reason }: Database,
  from: string,
): Promise<never> {
  await apiDelete(options, databasePath(name))
  throw new CommandError(
    reason ?? `Could not make ${name}`,
    EXIT.failed,
    `ergon db backup list ${from}`,
  )
}
