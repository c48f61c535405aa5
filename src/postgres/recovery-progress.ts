// The progress of a recovery, by the title of the process that recovers: PostgreSQL names each file of the write-ahead log
// there. Before the replay the process syncs each file of the cluster, and no title names those: the files that the process
// has open do. The log of the server tells nothing of a recovery at our level.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Cluster and kind of the process. No session has a title of this kind. */
const STARTUP = /^postgres: (?:[^ ]+: )?startup\b[^\0]*/
const NAMELESS = / startup$/

/**
 * A text that changes with each file of the cluster that is synced, and then with each file of the log; undefined where none
 * of the processes recovers.
 */
export function recoveryProgress(processes: readonly number[]): string | undefined {
  for (const pid of processes) {
    const [title] = STARTUP.exec(titleOf(pid)) ?? []
    if (title === undefined) continue
    const words = title.trimEnd()
    return NAMELESS.test(words) ? `${words} with ${openFilesOf(pid).join(' ')}` : words
  }
  return undefined
}

/** The files and folders that a process has open. */
const openFilesOf = (pid: number): string[] =>
  unlessEnded(() => readdirSync(`/proc/${pid}/fd`), []).flatMap((descriptor) => {
    const path = unlessEnded(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`), '')
    return path.startsWith('/') && !path.startsWith('/dev/') ? [path] : []
  })

const titleOf = (pid: number): string =>
  unlessEnded(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1'), '')

/** A process ends, and closes files, while it is looked at. */
function unlessEnded<T>(read: () => T, none: T): T {
  try {
    return read()
  } catch {
    return none
  }
}
