// Writes messages one after the other into blocks of memory. Bytes that take() returned are never written again, so a
// socket may keep them.

const BLOCK_BYTES = 65_536
/** UTF-8 takes at most 3 bytes for each unit of a JavaScript string. */
const UTF8_BYTES_MAX = 3

export class MessageWriter {
  #block: Buffer = Buffer.alloc(0)
  #start = 0
  #at = 0

  /** Begins a message; the result is for end(). */
  begin(type: number): number {
    this.#reserve(5)
    this.#block[this.#at] = type
    this.#at += 5
    return this.#at - 4 - this.#start
  }

  /** Begins a value; the result is for endValue(). */
  beginValue(): number {
    this.int32(0)
    return this.#at - 4 - this.#start
  }

  /** Writes the length of a message, which counts itself. */
  end(place: number): void {
    const from = this.#start + place
    this.#block.writeInt32BE(this.#at - from, from)
  }

  /** Writes the length of a value. */
  endValue(place: number): void {
    const from = this.#start + place
    this.#block.writeInt32BE(this.#at - from - 4, from)
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#block[this.#at++] = value
  }

  int16(value: number): void {
    this.#reserve(2)
    this.#at = this.#block.writeInt16BE(value, this.#at)
  }

  int32(value: number): void {
    this.#reserve(4)
    this.#at = this.#block.writeInt32BE(value, this.#at)
  }

  int64(value: bigint): void {
    this.#reserve(8)
    this.#at = this.#block.writeBigInt64BE(value, this.#at)
  }

  float64(value: number): void {
    this.#reserve(8)
    this.#at = this.#block.writeDoubleBE(value, this.#at)
  }

  text(value: string): void {
    this.#reserve(value.length * UTF8_BYTES_MAX)
    this.#at += this.#block.write(value, this.#at)
  }

  cstring(value: string): void {
    this.text(value)
    this.byte(0)
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#block.set(value, this.#at)
    this.#at += value.length
  }

  /** The bytes since the last take(). */
  take(): Buffer {
    const taken = this.#block.subarray(this.#start, this.#at)
    this.#start = this.#at
    return taken
  }

  /** Drops the bytes since the last take(). */
  drop(): void {
    this.#at = this.#start
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#block.length) return
    const written = this.#at - this.#start
    const larger = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, 2 * (written + count)))
    this.#block.copy(larger, 0, this.#start, this.#at)
    this.#block = larger
    this.#start = 0
    this.#at = written
  }
}
