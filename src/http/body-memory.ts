// What the request bodies of one process may hold of its memory, all together. A body is refused when
// its bytes find no room, not when it declares them: 32 connections that declare 8 MiB each and send
// nothing would otherwise take all of 256 MiB.

export const BODY_MEMORY_BYTES = 256 * 1024 * 1024

export interface BodyMemory {
  /** Whether there is room for so many bytes; when there is they are held until given back. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export function createBodyMemory(bytesMax: number): BodyMemory {
  let heldBytes = 0
  return {
    take(bytes) {
      if (heldBytes + bytes > bytesMax) return false
      heldBytes += bytes
      return true
    },
    give(bytes) {
      heldBytes -= bytes
    },
  }
}
