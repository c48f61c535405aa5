// After an error of write, sync or close a store writes no more until an operator has looked and started
// it again. A full disk is no such error, unless it comes with a sync.
import type { Logger } from '#base/log.ts'
import type { BlobWriter } from './disk.ts'
import { isFull, reasonOf, storageFenced, storageFull } from './faults.ts'

export type Fence = {
  reason(): string | undefined
  /** Throws `storage_fenced` when something failed before. */
  check(): void
  /** Runs a step after which nobody can say what is on the disk when it fails. */
  durable<T>(step: Promise<T>): Promise<T>
  /** Says that a file was left for the sweeper. */
  left(path: string, error: string): void
  /** The file, with errors that fence. */
  guard(file: BlobWriter): BlobWriter
}

export function createFence(deps: { log: Logger; folder: string }): Fence {
  let reason: string | undefined

  function fail(error: unknown): never {
    reason ??= reasonOf(error)
    deps.log.error('The blob store is read only from now on: its disk failed', {
      folder: deps.folder,
      error: reason,
    })
    throw storageFenced(reason, error)
  }
  const durable = <T>(step: Promise<T>) => step.catch(fail)

  return {
    reason: () => reason,
    check() {
      if (reason !== undefined) throw storageFenced(reason)
    },
    durable,
    left: (path, error) => deps.log.warn('An unfinished blob was left behind', { path, error }),
    guard: (file) => ({
      write: (chunks, position) =>
        file.write(chunks, position).catch((error: unknown) => {
          if (isFull(error)) throw storageFull(error)
          return fail(error)
        }),
      sync: () => durable(file.sync()),
      close: () => durable(file.close()),
    }),
  }
}
