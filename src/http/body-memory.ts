// The limit of memory that all request bodies of one process hold together. A body is refused when its received
// bytes find no room. Its declared length reserves nothing: otherwise 32 connections that declare 8 MiB each and
// send nothing would take all of 256 MiB.

export const BODY_MEMORY_BYTES = 256 * 1024 * 1024

export interface BodyMemory {
  /** Takes `bytes` until they are given back; false when there is no room. */
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
