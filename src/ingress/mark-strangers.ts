// Reads of clients that no piece of a cell counts: without marks the next request to mark would pay their CPU.
import type { Socket } from 'node:net'
import { markReads } from '#http/empty-reads.ts'
import type { CausedByCells } from '#node/meter/caused-by-cells.ts'

/** A reading of the clock takes as long as two pings. */
const OF_MARK = 16
/** A read of fewer bytes is hardly one of an upload. */
const SMALL_BYTES = 1024

/** Marks the CPU of nobody at each sixteenth call. */
export function everySixteenth({ mark }: CausedByCells['nobody']): () => void {
  let calls = 0
  return () => {
    if (++calls % OF_MARK === 0) mark()
  }
}

/** Marks the reads of a connection of HTTP/1.1. */
export function markStrangers(socket: Socket, nobody: CausedByCells['nobody']): void {
  const uncounted = everySixteenth(nobody)
  markReads(socket, {
    empty: nobody.mark,
    ofRequest(request, bytes) {
      // Its bytes are pieces of their cell. Of chunks there may be none: extensions say nothing.
      if (request.readableFlowing === true && isOfLength(request.headers)) return
      if (bytes < SMALL_BYTES) nobody.mark()
      else uncounted()
    },
  })
}

const isOfLength = (headers: NodeJS.Dict<string | string[]>): boolean =>
  headers['content-length'] !== undefined
