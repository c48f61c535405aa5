// Reads the answer of a server from the bytes of its connection (RFC 9112). Pieces of a body are views of what was read,
// valid until the next read: the data of small chunks is moved together there, over the framing between.
import { FRAMING_PER_DATA_MAX, isTooMuchFraming } from './framing-limits.ts'
import { FINAL_MIN, NotHttp, readAnswerHead, readTrailers, TOKEN, type HttpHead } from './heads.ts'

const HEAD_BYTES_MAX = 16_384
/** The line of a chunk's size, with its extensions. */
const SIZE_BYTES_MAX = 1024
/** RFC 9110, 5.6.4: a sign in it may be any but a line's end, which is why a line ends where CRLF is first. */
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"`
const SIZE = new RegExp(`^([0-9a-fA-F]{1,8})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*\r\n$`)
const NONE = Buffer.alloc(0)
const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
/** No body follows them (RFC 9110, 15.3.5 and 15.4.5). */
const BODILESS = new Set([204, 304])
const STATUS_MIN = 100
/** A chunk up to this is moved to the end of the piece before: a piece for each cost 60 times the time of a plain body. */
const JOINED_BYTES_MAX = 512
/** Up to here a loop is faster than a call of copyWithin(). */
const LOOP_BYTES_MAX = 32
const SIZE_DIGITS_MAX = 8
const CR = 0x0d
const LF = 0x0a
const BARE_LF = /(?<!\r)\n/
const NO_DIGIT = 255
/** The value of each byte as a hexadecimal digit. */
const DIGITS = Uint8Array.from({ length: 256 }, (_, code) =>
  /[0-9a-fA-F]/.test(String.fromCharCode(code))
    ? Number.parseInt(String.fromCharCode(code), 16)
    : NO_DIGIT,
)
const SWITCHING = 101

export interface ReadEvents {
  /** A head of 1xx. Another one follows it, or after 101 the bytes of another protocol. */
  interim(head: HttpHead): void
  head(head: HttpHead): void
  piece(bytes: Buffer): void
  /** All of it is read. */
  end(trailers: readonly string[]): void
}

type ReadPart = 'head' | 'length' | 'size' | 'chunk' | 'chunk end' | 'trailers' | 'close' | 'whole'

/** One for each connection. */
export class HttpAnswerReader {
  readonly #events: ReadEvents
  #state: ReadPart = 'whole'
  /** Bytes of the body, or of its chunk, that are to come. */
  #left = 0
  #isHead = false
  /** The begin of a head, or of a line, whose end has not come. */
  #kept = ''
  /** Of the bytes that are read now. */
  #at = 0
  /** The piece that has not been given. */
  #pieceFrom = 0
  #pieceTo = 0
  /** The framing of the answer, less its share of the data. */
  #framingBytes = 0
  #begunMs = 0
  #hasBegun = false
  #stepsCount = 0

  constructor(events: ReadEvents) {
    this.#events = events
  }

  /** An answer follows, which to HEAD has no body. */
  begin(isHead: boolean): void {
    this.#state = 'head'
    this.#isHead = isHead
    this.#kept = ''
    this.#framingBytes = 0
    this.#begunMs = performance.now()
    this.#hasBegun = false
  }

  /** A byte of the answer has come. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The heads, sizes and pieces of the last read. */
  get stepsCount(): number {
    return this.#stepsCount
  }

  /** Reads up to the end of the answer, and returns how many bytes those were, which may change. Throws NotHttp. */
  read(bytes: Buffer): number {
    this.#at = 0
    this.#hasBegun = true
    this.#stepsCount = 0
    this.#pieceFrom = 0
    this.#pieceTo = 0
    while (this.#at < bytes.length && this.#state !== 'whole') this.#step(bytes)
    this.#give(bytes)
    this.#framingBytes += this.#at
    if (this.#state !== 'whole' && isTooMuchFraming(this.#framingBytes, this.#begunMs))
      throw new NotHttp('More framing than data')
    return this.#at
  }

  /** The connection has ended. Returns false where the answer has not. */
  ended(): boolean {
    if (this.#state === 'close') this.#end(NONE)
    return this.#state === 'whole'
  }

  #step(bytes: Buffer): void {
    this.#stepsCount++
    switch (this.#state) {
      case 'head':
        return this.#head(this.#upTo(HEAD_END, HEAD_BYTES_MAX, bytes), bytes)
      case 'size':
        if (this.#plainSize(bytes)) return
        return this.#size(this.#upTo(LINE_END, SIZE_BYTES_MAX, bytes))
      case 'chunk end':
        return this.#chunkEnd(bytes)
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

  #head(text: string | undefined, bytes: Buffer): void {
    if (text === undefined) {
      // Its empty line would never come.
      if (BARE_LF.test(this.#kept))
        throw new NotHttp('A line of its head ends in LF alone, and not in CRLF')
      return
    }
    const head = readAnswerHead(text)
    const { status, length, isChunked } = head
    if (status < STATUS_MIN) throw new NotHttp('Not a status')
    if (status === SWITCHING) this.#state = 'whole'
    if (status < FINAL_MIN) return this.#events.interim(head)
    this.#events.head(head)
    if (this.#isHead || BODILESS.has(status) || length === 0) return this.#end(bytes)
    this.#left = length ?? Infinity
    this.#state = isChunked ? 'size' : length === undefined ? 'close' : 'length'
  }

  #piece(bytes: Buffer): void {
    const count = Math.min(bytes.length - this.#at, this.#left)
    this.#join(bytes, this.#at, count)
    this.#at += count
    this.#left -= count
    this.#framingBytes -= count * (1 + FRAMING_PER_DATA_MAX)
    if (this.#left > 0) return
    if (this.#state === 'length') this.#end(bytes)
    else this.#state = 'chunk end'
  }

  /** Makes those bytes part of the piece before, or a piece of their own. */
  #join(bytes: Buffer, from: number, count: number): void {
    const to = this.#pieceTo
    if (this.#pieceFrom === to || count > JOINED_BYTES_MAX) {
      this.#give(bytes)
      this.#pieceFrom = from
      this.#pieceTo = from + count
      return
    }
    if (count > LOOP_BYTES_MAX) bytes.copyWithin(to, from, from + count)
    else for (let i = 0; i < count; i++) bytes[to + i] = bytes[from + i] ?? 0
    this.#pieceTo = to + count
  }

  #give(bytes: Buffer): void {
    if (this.#pieceFrom === this.#pieceTo) return
    const piece = bytes.subarray(this.#pieceFrom, this.#pieceTo)
    this.#pieceFrom = this.#pieceTo
    this.#events.piece(piece)
  }

  /** Reads a size without extensions whose line is there as a whole: the usual case. False: it is another. */
  #plainSize(bytes: Buffer): boolean {
    if (this.#kept !== '') return false
    let at = this.#at
    let size = 0
    for (let digit = 0; at - this.#at < SIZE_DIGITS_MAX; at++) {
      digit = DIGITS[bytes[at] ?? 0] ?? 0
      if (digit === NO_DIGIT) break
      size = size * 16 + digit
    }
    if (at === this.#at || bytes[at] !== CR || bytes[at + 1] !== LF) return false
    this.#at = at + 2
    this.#sized(size)
    return true
  }

  #size(text: string | undefined): void {
    if (text === undefined) return
    const size = SIZE.exec(text)?.[1]
    if (size === undefined) throw new NotHttp('Not the size of a chunk')
    this.#sized(Number.parseInt(size, 16))
  }

  #sized(size: number): void {
    this.#left = size
    this.#state = size === 0 ? 'trailers' : 'chunk'
  }

  #chunkEnd(bytes: Buffer): void {
    const isPlain = this.#kept === '' && bytes[this.#at] === CR && bytes[this.#at + 1] === LF
    if (isPlain) this.#at += LINE_END.length
    else if (this.#upTo(LINE_END, LINE_END.length, bytes) === undefined) return
    this.#state = 'size'
  }

  /** The empty line alone is the usual case. */
  #trailers(bytes: Buffer): void {
    const first = this.#kept === '' ? bytes[this.#at] : this.#kept.charCodeAt(0)
    const isNone = first === 0x0d
    const text = this.#upTo(isNone ? LINE_END : HEAD_END, HEAD_BYTES_MAX, bytes)
    if (text !== undefined) this.#end(bytes, readTrailers(text))
  }

  #end(bytes: Buffer, trailers: readonly string[] = []): void {
    this.#give(bytes)
    this.#state = 'whole'
    this.#events.end(trailers)
  }
}
