// Where messages begin in a stream of bytes: the type and length of each are read, its body is skipped.

const HEAD_BYTES = 5
/** PostgreSQL's own: one byte less than the most memory that it allocates at once. */
const LENGTH_MAX = 0x3fff_fffe
/** Most pieces begin with a header and end with a message. */
const NO_HEAD: Buffer = Buffer.alloc(0)

/**
 * Follows the messages of one direction. `scan()` takes the bytes as they come and returns those that may be sent
 * on: all but a header that is not whole yet, which the next call returns.
 */
export class FrameScanner {
  #bodyLeft = 0
  #head = NO_HEAD
  readonly #onMessage: (type: number, bodyByte: number | undefined) => boolean

  /**
   * `onMessage` gets each type with the first byte of the body, where that came with the header, and returns whether
   * the message may pass. Nothing passes after one that may not.
   */
  constructor(onMessage: (type: number, bodyByte: number | undefined) => boolean) {
    this.#onMessage = onMessage
  }

  /** True between two messages. */
  get isAtBoundary(): boolean {
    return this.#bodyLeft === 0
  }

  /** Throws a RangeError for a length that no message has. */
  scan(chunk: Buffer): Buffer {
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
    this.#head = NO_HEAD
    let at = Math.min(this.#bodyLeft, bytes.length)
    this.#bodyLeft -= at
    while (at < bytes.length) {
      if (bytes.length - at < HEAD_BYTES) {
        this.#head = Buffer.from(bytes.subarray(at))
        return bytes.subarray(0, at)
      }
      const length = bytes.readInt32BE(at + 1)
      if (length < 4 || length > LENGTH_MAX) throw new RangeError(`a message of ${length} bytes`)
      if (!this.#onMessage(bytes[at] ?? 0, bytes[at + HEAD_BYTES])) return bytes.subarray(0, at)
      const end = at + 1 + length
      this.#bodyLeft = Math.max(0, end - bytes.length)
      at = Math.min(end, bytes.length)
    }
    return bytes
  }
}
