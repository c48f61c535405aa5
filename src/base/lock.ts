// Exclusive locks between processes: flock(2) on a file that this process keeps open. The lock belongs
// to the open file description, so it ends with the process, however that ends: no stale lock files.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { baseFault } from './own-errors.ts'

/** A held lock; `release` is idempotent, and so is disposing of it. */
export type FileLock = AsyncDisposable & { readonly path: string; release(): Promise<void> }

const CONFLICT = 75
const ATTEMPTS_MAX = 5

/**
 * Takes the exclusive lock of a file, which is made (0600) when it is absent. Without `wait` it throws
 * `locked` when another process holds the lock. A call with `wait` waits until the signal, and throws its reason.
 * Node has no flock(2): flock(1) locks our descriptor, which it inherits as its fd 3, and exits; the
 * lock stays, as it is ours too. With `read` the file is there already, and the process needs no right to write it.
 */
export async function lockFile(
  path: string,
  wait?: AbortSignal,
  { read = false }: { readonly read?: boolean } = {},
): Promise<FileLock> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const file = await open(path, read ? 'r' : 'a', 0o600)
    try {
      await lockDescriptor(file.fd, path, wait)
      const release = () => file.close()
      if (await isStillAt(file, path)) return { path, release, [Symbol.asyncDispose]: release }
    } catch (error) {
      await file.close()
      throw error
    }
    // Deleted between open and lock: a second process could lock the new file of that name.
    await file.close()
  }
  throw cannotLock(path, 'the file is replaced again and again')
}

async function lockDescriptor(descriptor: number, path: string, wait?: AbortSignal): Promise<void> {
  wait?.throwIfAborted()
  const patience = wait === undefined ? ['-n', '-E', String(CONFLICT)] : []
  const child = spawn('flock', ['-x', ...patience, '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    ...(wait !== undefined && { signal: wait }),
  })
  const code = await once(child, 'exit').then(
    ([exitCode]: unknown[]) => exitCode,
    (error: unknown) => {
      wait?.throwIfAborted()
      throw cannotLock(path, 'flock(1) of util-linux is missing', error)
    },
  )
  if (code === CONFLICT) throw baseFault('locked', `Another process holds: ${path}`)
  if (code !== 0) throw cannotLock(path, `flock ended with ${String(code)}`)
}

async function isStillAt(file: FileHandle, path: string): Promise<boolean> {
  const [held, named] = await Promise.all([file.stat(), stat(path).catch(() => undefined)])
  return named !== undefined && named.ino === held.ino && named.dev === held.dev
}

const cannotLock = (path: string, why: string, cause?: unknown) =>
  baseFault('internal', `Cannot lock ${path}: ${why}`, { cause })
