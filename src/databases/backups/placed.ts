// Restored files in the place of a database. A mark beside them tells them from files that the database had before: a
// restore may begin while a disk is only not mounted, and end with the disk.
import { existsSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncPath } from '#artifacts/files.ts'
import { hasFiles } from '#databases/server/make-cluster.ts'

/** Beside files that wait for their recovery: nobody else may start them. */
const WAITING = 'recovering'
/** In its place once they are recovered, until the state knows that. */
const RECOVERED = 'recovered'

/** True for files that are not recovered yet. Their server would write its log where the stored log ends. */
export const isRecovering = (folder: string): boolean => existsSync(join(folder, WAITING))

const isRecovered = (folder: string): boolean => existsSync(join(folder, RECOVERED))

/** `other` are files that the restore did not make. */
export type Placed = 'waiting' | 'recovered' | 'other'

/** Moves the files to their place, where the database has none; may be repeated. Returns those that are there then. */
export async function placeRestored(from: string, to: string): Promise<Placed> {
  if (isRecovering(to)) return 'waiting'
  if (isRecovered(to)) return 'recovered'
  if (hasFiles(to)) return 'other'
  if (!existsSync(from)) return 'waiting'
  await writeFile(join(from, WAITING), '')
  await syncPath(from)
  // A folder without a cluster.
  await rm(to, { recursive: true, force: true })
  await rename(from, to)
  await syncPath(dirname(to))
  await syncPath(dirname(from))
  return 'waiting'
}

export async function markRecovered(folder: string): Promise<void> {
  // Files that an earlier version has put there have no mark.
  if (!isRecovering(folder)) return
  await rename(join(folder, WAITING), join(folder, RECOVERED))
  await syncPath(folder)
}

/** Once the state knows that the files are recovered. */
export const unmark = (folder: string): Promise<void> =>
  rm(join(folder, RECOVERED), { force: true })
