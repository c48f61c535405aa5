// Where the clusters of tests lie: in memory where a test gives up durability and there is room, else on the disk.
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'ergon-pg-'
// Files in memory. A database of a test, which is 1,015 files, takes 0.05 s of CPU to make and remove there, and 0.5 to
// 0.7 s on an ext4 that tells its device of each removed file.
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 1024 ** 3
const LEFT_AFTER_MS = 3_600_000

/** A new folder of this process below a place. */
export const makeTestFolder = (place: string): string =>
  mkdtempSync(join(place, `${PREFIX}${process.pid}-`))

/** The place of a cluster with these settings. One with room for a long log has much data, which is for the disk. */
export function testPlace(settings: Readonly<Record<string, string>>): string {
  const isSmall = settings['fsync'] === 'off' && settings['max_wal_size'] === undefined
  if (!isSmall || !isWritable(MEMORY)) return tmpdir()
  removeLeft()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : tmpdir()
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Frees the memory of clusters of ours whose process was killed. */
function removeLeft(): void {
  for (const name of readdirSync(MEMORY).filter((name) => name.startsWith(PREFIX))) {
    const folder = join(MEMORY, name)
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found === undefined || found.uid !== process.geteuid?.()) continue
    if (Date.now() - found.mtimeMs < LEFT_AFTER_MS) continue
    const [pid] = name.slice(PREFIX.length).split('-')
    if (!existsSync(`/proc/${pid}`)) rmSync(folder, { recursive: true, force: true })
  }
}
