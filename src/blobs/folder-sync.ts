// Makes new names in a folder durable, together: while one sync runs, all that come share the next one.
import type { BlobDisk } from './disk.ts'

type Turns = { running: Promise<void>; next: Promise<void> | undefined }

/** Resolves when a sync that began after the call has ended. */
export function createFolderSync(disk: BlobDisk): (folder: string) => Promise<void> {
  const turns = new Map<string, Turns>()

  async function run(folder: string, turn: Turns): Promise<void> {
    try {
      await disk.syncFolder(folder)
    } finally {
      if (turn.next === undefined) turns.delete(folder)
    }
  }

  return (folder) => {
    const turn = turns.get(folder)
    if (turn === undefined) {
      const first: Turns = { running: Promise.resolve(), next: undefined }
      turns.set(folder, first)
      first.running = run(folder, first)
      return first.running
    }
    turn.next ??= turn.running
      .catch(() => undefined)
      .then(() => {
        turn.next = undefined
        turn.running = run(folder, turn)
        return turn.running
      })
    return turn.next
  }
}
