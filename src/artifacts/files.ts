// File operations of this folder: hash files, make them durable, count free bytes.
import { createHash, hash as hashOnce } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, open, readFile, readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const SMALL_BYTES = 256 * 1024

/** SHA-256 of a file, in hex. */
export async function sha256OfFile(path: string, signal?: AbortSignal): Promise<string> {
  // A stream costs ten times the hashing of a small file, and a server's tree has a thousand of them.
  if ((await stat(path)).size <= SMALL_BYTES) return hashOnce('sha256', await readFile(path))
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, { signal })
  return hash.digest('hex')
}

/** Size of a regular file, or undefined when there is none. */
export async function sizeOfFile(path: string): Promise<number | undefined> {
  const found = await stat(path, { throwIfNoEntry: false })
  return found?.isFile() ? found.size : undefined
}

/** Bytes that an unprivileged process may still write to the file system of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const found = await statfs(folder)
  return found.bavail * found.bsize
}

/** Makes one file or folder durable (for a folder: the names in it). */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes a whole tree durable: every file, then every folder from the leaves up. Links are left alone. */
export async function syncTree(folder: string): Promise<void> {
  const names = await readdir(folder, { withFileTypes: true })
  for (const name of names) {
    const path = join(folder, name.name)
    if (name.isDirectory()) await syncTree(path)
    else if (name.isFile()) await syncPath(path)
  }
  await syncPath(folder)
}

/** Lets everyone enter the folders of a tree: cells of other uids read their files. */
export async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const name of await readdir(folder, { withFileTypes: true }))
    if (name.isDirectory()) await openFolders(join(folder, name.name))
}
