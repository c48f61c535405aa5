// A move that was ordered begins at once: the storage cell is told on its own socket.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import { ask } from '#node/cell-specs.ts'
import { STORAGE_CELL } from '#objects/upkeep/storage-cell.ts'
import { MOVE_PAGE } from '#objects/upkeep/move-order.ts'

const TELL_MS_MAX = 2000

/** Never rejects: one that does not hear it looks every 10 s, and when it starts. */
export async function tellMover(cells: Cells, log: Logger): Promise<void> {
  const cell = cells
    .list()
    .find(({ spec, state }) => spec.name === STORAGE_CELL && state === 'ready')
  if (cell === undefined) return
  try {
    await ask(cell.socket, MOVE_PAGE, AbortSignal.timeout(TELL_MS_MAX))
  } catch (error) {
    log.warn('The mover was not told of its order', { error: messageOf(error) })
  }
}
