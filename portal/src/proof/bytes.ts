// Node's Buffer as far as the verifier of receipts (src/tlog) uses it. The same verifier then runs on the command line
// and in the browser, so both hold the same receipts for good.

type Encoding = 'utf8' | 'hex' | 'base64' | 'latin1'

const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (sign) => sign.charCodeAt(0))
const binary = (bytes: Uint8Array): string => {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

/** Like Node's: what is no hex or base64 makes no bytes, which the caller's comparison notices. */
function decode(text: string, encoding: Encoding): Uint8Array {
  switch (encoding) {
    case 'utf8':
      return new TextEncoder().encode(text)
    case 'latin1':
      return latin1(text)
    case 'hex':
      return Uint8Array.from(text.match(/[0-9a-f]{2}/gi) ?? [], (pair) => Number.parseInt(pair, 16))
    case 'base64':
      try {
        return latin1(atob(text))
      } catch {
        return new Uint8Array()
      }
  }
}

/** Bytes with the methods of a Buffer. */
export class Bytes extends Uint8Array {
  static override from(
    source: string | Iterable<number> | ArrayLike<number>,
    how?: unknown,
  ): Bytes {
    const encoding = (typeof how === 'string' ? how : 'utf8') as Encoding
    return copyOf(
      typeof source === 'string'
        ? decode(source, encoding)
        : Uint8Array.from(source as Iterable<number>),
    )
  }

  static alloc(length: number, filling = 0): Bytes {
    return new Bytes(length).fill(filling)
  }

  static allocUnsafe(length: number): Bytes {
    return new Bytes(length)
  }

  static concat(parts: readonly Uint8Array[]): Bytes {
    const joined = new Bytes(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      joined.set(part, at)
      at += part.length
    }
    return joined
  }

  /** A view, as in Node. */
  override subarray(begin?: number, end?: number): Bytes {
    const view = Uint8Array.prototype.subarray.call(this, begin, end)
    return new Bytes(view.buffer as ArrayBuffer, view.byteOffset, view.length)
  }

  override toString(encoding: Encoding = 'utf8'): string {
    switch (encoding) {
      case 'utf8':
        return new TextDecoder().decode(this)
      case 'latin1':
        return binary(this)
      case 'hex':
        return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('')
      case 'base64':
        return btoa(binary(this))
    }
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && this.every((byte, at) => byte === other[at])
  }

  copy(target: Uint8Array, at = 0): number {
    target.set(this, at)
    return this.length
  }

  write(text: string, at: number, encoding: Encoding): number {
    const bytes = decode(text, encoding)
    this.set(bytes, at)
    return bytes.length
  }

  writeBigUInt64BE(value: bigint, at = 0): number {
    this.#view().setBigUint64(at, value)
    return at + 8
  }

  readBigUInt64BE(at = 0): bigint {
    return this.#view().getBigUint64(at)
  }

  #view(): DataView {
    return new DataView(this.buffer, this.byteOffset, this.length)
  }
}

function copyOf(bytes: Uint8Array): Bytes {
  const copy = new Bytes(bytes.length)
  copy.set(bytes)
  return copy
}
