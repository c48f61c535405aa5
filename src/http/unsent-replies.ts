// Replies of known length that the kernel has not taken: clients that read slowly, or not at all. Node keeps their bytes
// in memory until the client reads. So their sum has a limit, and each has a time in which something must move.
import type { ServerResponse } from 'node:http'
import { blockOf } from '#base/subnets.ts'
import { UNREAD_MS_MAX } from './limits.ts'

/**
 * The count costs 0.5 µs of CPU for a reply of 4 KiB: 0.3 % of the 165 µs of a gateway for a small JSON reply. That is the
 * median of nine turns with and without it on a busy machine, quartiles -2.5 and 1.1 µs (`npm run bench -- unsent-replies`).
 */
export const UNSENT_BYTES_MAX = 128 * 1024 * 1024

export interface UnsentReplies {
  /**
   * Resolves when an ended reply has left, or its connection has ended. Undefined when that is so already. `account` is
   * the caller's; a caller without one is counted by the network of its connection.
   */
  left(response: ServerResponse, account: string | undefined): Promise<void> | undefined
}

type UnsentReply = {
  readonly response: ServerResponse
  readonly bytes: number
  /** The account or the network that the reply is for. */
  readonly reader: string
}

/**
 * Beyond `bytesMax` the connection ends whose reply waits longest, of the reader with most bytes: a refusal of new requests
 * would hit those who read, and the eldest of all would be another's. `unreadMs` is the longest time in which a client
 * reads nothing of its reply.
 */
export function createUnsentReplies({
  bytesMax = UNSENT_BYTES_MAX,
  unreadMs = UNREAD_MS_MAX,
}: {
  readonly bytesMax?: number | undefined
  readonly unreadMs?: number | undefined
}): UnsentReplies {
  // In the order of their begin.
  const waiting: UnsentReply[] = []
  let heldBytes = 0

  const remove = (one: UnsentReply) => {
    const place = waiting.indexOf(one)
    if (place < 0) return
    waiting.splice(place, 1)
    heldBytes -= one.bytes
  }

  return {
    left(response, account) {
      if (!response.writableEnded || response.writableFinished || response.destroyed)
        return undefined
      const reader = account ?? blockOf(response.socket?.remoteAddress ?? '')
      const one: UnsentReply = { response, bytes: response.writableLength, reader }
      waiting.push(one)
      heldBytes += one.bytes
      const restore = limitSilence(response.socket, unreadMs)
      const gone = new Promise<void>((resolve) => {
        response.once('close', () => {
          remove(one)
          restore()
          resolve()
        })
      })
      while (heldBytes > bytesMax) {
        const eldest = eldestOfMost(waiting)
        if (eldest === undefined) break
        remove(eldest)
        eldest.response.destroy()
      }
      return gone
    },
  }
}

function eldestOfMost(waiting: readonly UnsentReply[]): UnsentReply | undefined {
  const bytesOf = new Map<string, number>()
  for (const { reader, bytes } of waiting) bytesOf.set(reader, (bytesOf.get(reader) ?? 0) + bytes)
  const most = Math.max(...bytesOf.values())
  return waiting.find(({ reader }) => bytesOf.get(reader) === most)
}

/** Progress within one large write is no silence. Returns how the connection has its former time again. */
function limitSilence(socket: ServerResponse['socket'], silenceMs: number): () => void {
  const beforeMs = socket?.timeout ?? 0
  if (socket === null || (beforeMs > 0 && beforeMs <= silenceMs)) return () => undefined
  socket.setTimeout(silenceMs)
  return () => {
    // Node has set the time of a kept connection when no request waits.
    if (socket.timeout === silenceMs) socket.setTimeout(beforeMs)
  }
}
