// Replies of known length that the kernel has not taken: clients that read slowly, or not at all. Node keeps their bytes
// in memory until the client reads. So their sum has a limit, and each has a time in which something must move.
import type { ServerResponse } from 'node:http'
import { systemClock, type Clock } from '#base/clock.ts'
import { blockOf } from '#base/subnets.ts'
import { ByteSums, type ByteSum } from './byte-sums.ts'
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
  /** The account or the network that the reply is for. */
  readonly reader: ByteSum
  /** As Node counted them last. */
  bytes: number
  /** Bytes of the running write that the kernel has not taken. Their number falls within one large write, `bytes` does not. */
  queued: number
  movedAtMs: number
}

/** All waiting replies are looked at again at most this often, since there may be 10,000. */
const REFRESH_MS = 100

/** A reply that moved within this time is not ended where another stood still for longer. */
const YOUNG_MS = 1000

/**
 * Limits the bytes of replies that clients have not read. Beyond `bytesMax` a connection ends: of the readers with more
 * than an equal share, the connection that has been idle for longest. A refusal of new requests would hit clients that
 * read. If all connections of these readers moved within the last second, an idle connection of another reader ends
 * in their place: many idle clients must not displace the reader of a large reply. `unreadMs` is the longest time in
 * which a client may read nothing of its reply.
 */
export function createUnsentReplies({
  bytesMax = UNSENT_BYTES_MAX,
  unreadMs = UNREAD_MS_MAX,
  clock = systemClock,
}: {
  readonly bytesMax?: number | undefined
  readonly unreadMs?: number | undefined
  readonly clock?: Pick<Clock, 'monotonicMs'>
}): UnsentReplies {
  const waiting = new WaitingReplies(bytesMax)
  return {
    left(response, account) {
      if (!response.writableEnded || response.writableFinished || response.destroyed)
        return undefined
      const nowMs = clock.monotonicMs()
      const reader = account ?? blockOf(response.socket?.remoteAddress ?? '')
      const one = waiting.add(response, reader, nowMs)
      const restore = limitSilence(response.socket, unreadMs)
      const gone = new Promise<void>((resolve) => {
        response.once('close', () => {
          waiting.remove(one)
          restore()
          resolve()
        })
      })
      waiting.endBeyondMax(nowMs)
      return gone
    },
  }
}

class WaitingReplies {
  readonly #bytesMax: number
  /** In the order of their begin. */
  readonly #replies: UnsentReply[] = []
  readonly #readers = new ByteSums()
  #refreshedAtMs = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(response: ServerResponse, name: string, nowMs: number): UnsentReply {
    const reader = this.#readers.enter(name)
    const queued = queuedBytes(response)
    const one: UnsentReply = { response, reader, bytes: 0, queued, movedAtMs: nowMs }
    this.#replies.push(one)
    this.#count(one, response.writableLength)
    return one
  }

  remove(one: UnsentReply): void {
    const place = this.#replies.indexOf(one)
    if (place < 0) return
    this.#replies.splice(place, 1)
    this.#count(one, 0)
    this.#readers.leave(one.reader)
  }

  endBeyondMax(nowMs: number): void {
    if (nowMs - this.#refreshedAtMs >= REFRESH_MS) this.#refreshAll(nowMs)
    while (this.#readers.bytes > this.#bytesMax) {
      const one = this.#stillest(nowMs)
      if (one === undefined) return
      if (this.#refresh(one, nowMs)) {
        // Nothing more moves within this turn of the event loop.
        this.#refreshAll(nowMs)
        continue
      }
      this.remove(one)
      one.response.destroy()
    }
  }

  #count(one: UnsentReply, bytes: number): void {
    this.#readers.add(one.reader, bytes - one.bytes)
    one.bytes = bytes
  }

  #refreshAll(nowMs: number): void {
    this.#refreshedAtMs = nowMs
    for (const one of this.#replies) this.#refresh(one, nowMs)
  }

  /** True when something moved since the last call. */
  #refresh(one: UnsentReply, nowMs: number): boolean {
    const bytes = one.response.writableLength
    const queued = queuedBytes(one.response)
    if (bytes === one.bytes && queued === one.queued) return false
    this.#count(one, bytes)
    one.queued = queued
    one.movedAtMs = nowMs
    return true
  }

  #stillest(nowMs: number): UnsentReply | undefined {
    const shareBytes = this.#bytesMax / this.#readers.count
    let ofAll: UnsentReply | undefined
    let ofLarge: UnsentReply | undefined
    for (const one of this.#replies) {
      if (isStiller(one, ofAll)) ofAll = one
      if (one.reader.bytes > shareBytes && isStiller(one, ofLarge)) ofLarge = one
    }
    if (ofAll === undefined || ofLarge === undefined) return ofAll
    const stillMs = (one: UnsentReply) => nowMs - one.movedAtMs
    return stillMs(ofLarge) < YOUNG_MS && stillMs(ofAll) >= YOUNG_MS ? ofAll : ofLarge
  }
}

const isStiller = (one: UnsentReply, other: UnsentReply | undefined): boolean =>
  other === undefined || one.movedAtMs < other.movedAtMs

/** Node has no public count of this; its own time-outs of sockets compare the same one. */
function queuedBytes({ socket }: ServerResponse): number {
  const handle =
    socket === null ? undefined : (Reflect.get(socket, '_handle') as WriteHandle | null)
  return handle?.writeQueueSize ?? 0
}

type WriteHandle = { readonly writeQueueSize?: number }

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
