// Reads the answer of an instance from the bytes of its connection (RFC 9112). Pieces of a body are views of what was read:
// they are valid during the call alone.
import {
  FINAL_MIN,
  NotHttp,
  readAnswerHead,
  readTrailers,
  TOKEN,
  type InstanceHead,
} from './heads.ts'

const HEAD_BYTES_MAX = 16_384
/** Of a size with its extensions. */
const SIZE_BYTES_MAX = 1024
/** RFC 9110, 5.6.4: a sign in it may be any but a line's end, which is why a line ends where CRLF is first. */
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"`
const SIZE = new RegExp(`^([0-9a-fA-F]{1,8})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*\r\n$`)
const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
/** No body follows them (RFC 9110, 15.3.5 and 15.4.5). */
const BODILESS = new Set([204, 304])
const STATUS_MIN = 100
const SWITCHING = 101

export interface ReadEvents {
  /** A head of 1xx. Another one follows it, or after 101 the bytes of another protocol. */
  interim(head: InstanceHead): void
  head(head: InstanceHead): void
  piece(bytes: Buffer): void
  /** All of it is read. */
  end(trailers: readonly string[]): void
}

type ReadPart = 'head' | 'length' | 'size' | 'chunk' | 'chunk end' | 'trailers' | 'close' | 'whole'

/** One for each connection. */
export class InstanceAnswerReader {
  readonly #events: ReadEvents
  #state: ReadPart = 'whole'
  /** Bytes of the body, or of its chunk, that are to come. */
  #left = 0
  #isHead = false
  /** The begin of a head, or of a line, whose end has not come. */
  #kept = ''
  /** Of the bytes that are read now. */
  #at = 0

  constructor(events: ReadEvents) {
    this.#events = events
  }

  /** An answer follows, which to HEAD has no body. */
  begin(isHead: boolean): void {
    this.#state = 'head'
    this.#isHead = isHead
    this.#kept = ''
  }

  /** Reads up to the end of the answer, and returns how many bytes those were. Throws NotHttp. */
  read(bytes: Buffer): number {
    this.#at = 0
    while (this.#at < bytes.length && this.#state !== 'whole') this.#step(bytes)
    return this.#at
  }

  /** The connection has ended. Returns false where the answer has not. */
  ended(): boolean {
    if (this.#state === 'close') this.#end()
    return this.#state === 'whole'
  }

  #step(bytes: Buffer): void {
    switch (this.#state) {
      case 'head':
        return this.#head(this.#upTo(HEAD_END, HEAD_BYTES_MAX, bytes))
      case 'size':
        return this.#size(this.#upTo(LINE_END, SIZE_BYTES_MAX, bytes))
      case 'chunk end':
        return this.#chunkEnd(this.#upTo(LINE_END, LINE_END.length, bytes))
      case 'trailers':
        return this.#trailers(bytes)
      case 'length':
      case 'chunk':
      case 'close':
        return this.#piece(bytes)
      case 'whole':
    }
  }

  /** The text up to the end, or undefined where that has not come. */
  #upTo(end: Buffer, bytesMax: number, bytes: Buffer): string | undefined {
    if (this.#kept === '') {
      const found = bytes.indexOf(end, this.#at)
      if (found >= 0 && found + end.length - this.#at <= bytesMax) {
        const text = bytes.toString('latin1', this.#at, found + end.length)
        this.#at = found + end.length
        return text
      }
    }
    const before = this.#kept.length
    const to = Math.min(bytes.length, this.#at + bytesMax + 1 - before)
    const text = this.#kept + bytes.toString('latin1', this.#at, to)
    const found = text.indexOf(end.toString('latin1'))
    const length = found < 0 ? text.length : found + end.length
    if (length > bytesMax) throw new NotHttp(`More than ${bytesMax} bytes have no end`)
    this.#at += length - before
    this.#kept = found < 0 ? text : ''
    return found < 0 ? undefined : text.slice(0, length)
  }

  #head(text: string | undefined): void {
    if (text === undefined) return
    const head = readAnswerHead(text)
    const { status, length, isChunked } = head
    if (status < STATUS_MIN) throw new NotHttp('Not a status')
    if (status === SWITCHING) this.#state = 'whole'
    if (status < FINAL_MIN) return this.#events.interim(head)
    this.#events.head(head)
    if (this.#isHead || BODILESS.has(status) || length === 0) return this.#end()
    this.#left = length ?? Infinity
    this.#state = isChunked ? 'size' : length === undefined ? 'close' : 'length'
  }

  #piece(bytes: Buffer): void {
    const piece = bytes.subarray(this.#at, Math.min(bytes.length, this.#at + this.#left))
    this.#at += piece.length
    this.#left -= piece.length
    this.#events.piece(piece)
    if (this.#left > 0) return
    if (this.#state === 'length') this.#end()
    else this.#state = 'chunk end'
  }

  #size(text: string | undefined): void {
    if (text === undefined) return
    const size = SIZE.exec(text)?.[1]
    if (size === undefined) throw new NotHttp('Not the size of a chunk')
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'chunk'
  }

  #chunkEnd(text: string | undefined): void {
    if (text !== undefined) this.#state = 'size'
  }

  /** The empty line alone is the usual case. */
  #trailers(bytes: Buffer): void {
    const first = this.#kept === '' ? bytes[this.#at] : this.#kept.charCodeAt(0)
    const isNone = first === 0x0d
    const text = this.#upTo(isNone ? LINE_END : HEAD_END, HEAD_BYTES_MAX, bytes)
    if (text !== undefined) this.#end(readTrailers(text))
  }

  #end(trailers: readonly string[] = []): void {
    this.#state = 'whole'
    this.#events.end(trailers)
  }
}
