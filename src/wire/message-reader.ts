// Whole messages of a stream of bytes. A message that came whole is read where it lies; only one that is cut is
// copied, into memory that grows with the received bytes, not with the claimed length.
import { ProtocolError } from './wire-errors.ts'

const HEAD_BYTES = 5
const HELD_BYTES_MIN = 8192

/** A message's body is `bytes` from `start` to `end`, valid until the function returns. Returns false to stop. */
export type OnMessage = (type: number, bytes: Buffer, start: number, end: number) => boolean

export class MessageReader {
  readonly #onMessage: OnMessage
  readonly #bytesMax: number
  /** The beginning of a message; `#held` bytes of it are here. */
  #block: Buffer = Buffer.alloc(0)
  #held = 0

  constructor(bytesMax: number, onMessage: OnMessage) {
    this.#bytesMax = bytesMax
    this.#onMessage = onMessage
  }

  /** Bytes of memory for a message that is not whole yet. */
  get heldBytes(): number {
    return this.#block.length
  }

  /** Throws a ProtocolError for a length that no message may have. */
  take(bytes: Buffer): void {
    let at = this.#held === 0 ? 0 : this.#complete(bytes)
    while (at >= 0 && at < bytes.length) {
      const size = this.#sizeOf(bytes, at, bytes.length)
      if (size === undefined || at + size > bytes.length) return this.#hold(bytes.subarray(at))
      at = this.#deliver(bytes, at, size) ? at + size : -1
    }
  }

  /** Goes on with the held message; the place after it, or -1 where nothing is left to do. */
  #complete(bytes: Buffer): number {
    let at = 0
    if (this.#held < HEAD_BYTES) {
      at = Math.min(HEAD_BYTES - this.#held, bytes.length)
      this.#hold(bytes.subarray(0, at))
    }
    const size = this.#sizeOf(this.#block, 0, this.#held)
    if (size === undefined) return -1
    const rest = Math.min(size - this.#held, bytes.length - at)
    this.#hold(bytes.subarray(at, at + rest))
    if (this.#held < size) return -1
    const whole = this.#block
    this.#block = Buffer.alloc(0)
    this.#held = 0
    return this.#deliver(whole, 0, size) ? at + rest : -1
  }

  /** The bytes of a message with its header; undefined where its length has not come. */
  #sizeOf(bytes: Buffer, at: number, end: number): number | undefined {
    if (end - at < HEAD_BYTES) return undefined
    const length = bytes.readInt32BE(at + 1)
    if (length < 4 || length >= this.#bytesMax)
      throw new ProtocolError(`The server sent a message of ${length} bytes`)
    return length + 1
  }

  #deliver(bytes: Buffer, at: number, size: number): boolean {
    return this.#onMessage(bytes[at] ?? 0, bytes, at + HEAD_BYTES, at + size)
  }

  #hold(bytes: Buffer): void {
    const needed = this.#held + bytes.length
    if (needed > this.#block.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(HELD_BYTES_MIN, 2 * needed))
      this.#block.copy(larger, 0, 0, this.#held)
      this.#block = larger
    }
    bytes.copy(this.#block, this.#held)
    this.#held = needed
  }
}
