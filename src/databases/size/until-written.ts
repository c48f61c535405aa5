// A wait for the first write to the tables of a cluster, told by the kernel (inotify(7)): a database at rest needs no
// frequent measurement, and a writer is seen as the writer begins.
import { watch, type FSWatcher } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '#base/clock.ts'
import { tableFolders } from './stored.ts'

export type WrittenWait = {
  /** A write in this time ends the wait at the end of this time. */
  readonly leastMs: number
  readonly mostMs: number
  /** The time in any case where the kernel has no watch left for this user. */
  readonly blindMs: number
}

/**
 * Resolves with true when a table of the cluster with this data folder is written or a database is made in it, and with
 * false after `mostMs`, or `blindMs`. Rejects with the signal's reason.
 */
export type WrittenTables = (
  data: string,
  wait: WrittenWait,
  signal: AbortSignal,
) => Promise<boolean>

export const untilWritten: WrittenTables = async (data, wait, signal) => {
  const written = Promise.withResolvers<true>()
  const watchers = watchOnce(data, () => written.resolve(true))
  if (watchers === undefined) return await sleep(wait.blindMs, signal).then(() => false)
  const { leastMs, mostMs } = wait
  const waiting = new AbortController()
  const until = AbortSignal.any([signal, waiting.signal])
  try {
    await sleep(leastMs, until)
    const late = sleep(mostMs - leastMs, until).then(() => false)
    return await Promise.race([written.promise, late])
  } finally {
    waiting.abort()
    for (const watcher of watchers) watcher.close()
  }
}

/**
 * Each write is an event, and a writer at full speed makes 150,000 a second: a watcher ends with its first one. Undefined
 * where no watch is left, or a folder went.
 */
function watchOnce(data: string, changed: () => void): readonly FSWatcher[] | undefined {
  const watchers: FSWatcher[] = []
  try {
    for (const folder of [join(data, 'base'), ...tableFolders(data)]) {
      const watcher = watch(folder, { persistent: false }, () => {
        watcher.close()
        changed()
      })
      watcher.on('error', () => watcher.close())
      watchers.push(watcher)
    }
    return watchers
  } catch {
    for (const watcher of watchers) watcher.close()
    return undefined
  }
}
