// Whole numbers in seven bits a byte, the lowest first (LEB128). Up to Number.MAX_SAFE_INTEGER.

/** Bytes that grow at their end. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(1024)
  #end = 0

  varint(value: number): void {
    this.#room(8)
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[this.#end++] = (rest % 128) | 128
    this.#bytes[this.#end++] = rest
  }

  /** A number of either sign; small ones are short. */
  step(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  bytes(added: Uint8Array): void {
    this.#room(added.length)
    this.#bytes.set(added, this.#end)
    this.#end += added.length
  }

  /** Characters up to U+00FF, with their number before them. */
  text(text: string): void {
    this.varint(text.length)
    this.bytes(Buffer.from(text, 'latin1'))
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#end)
  }

  #room(more: number): void {
    if (this.#end + more <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(2 * this.#bytes.length + more)
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}

/** Reads the bytes of ByteWriter. */
export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  varint(): number {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new RangeError('A number goes beyond the end of its bytes')
      value += (byte & 127) * unit
      if (byte < 128) return value
    }
  }

  step(): number {
    const value = this.varint()
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2
  }

  bytes(count: number): Buffer {
    return this.#bytes.subarray(this.#at, (this.#at += count))
  }

  text(): string {
    return this.bytes(this.varint()).toString('latin1')
  }
}
