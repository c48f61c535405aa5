// The progress of a recovery, by the title of the process that recovers: PostgreSQL names each file of the write-ahead log
// there. The log of the server tells nothing of a recovery at our level.
import { readFileSync } from 'node:fs'

/** Cluster and kind of the process. No session has a title of this kind. */
const STARTUP = /^postgres: (?:[^ ]+: )?startup\b[^\0]*/

/** A text that changes with each file of the log; undefined where none of the processes recovers. */
export function recoveryProgress(processes: readonly number[]): string | undefined {
  for (const pid of processes) {
    const [title] = STARTUP.exec(titleOf(pid)) ?? []
    if (title !== undefined) return title.trimEnd()
  }
  return undefined
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // It has ended.
    return ''
  }
}
