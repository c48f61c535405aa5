// One connection of HTTP/1.1 to a server: a request after the other, each with its answer. Bytes are read without the
// readable stream of the socket, into memory that all connections share: they are taken before the next read.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Failure } from '#base/errors.ts'
import { NotHttp, requestText, type HttpHead, type RequestHead } from './heads.ts'
import { NotAnswered, Overdue, type AwaitedPart } from './not-answered.ts'
import { openSocket, type ServerPlace } from './open-socket.ts'
import { HttpAnswerReader } from './read-answer.ts'

/** A page of 64 KiB and its head come in one read. With 64 KiB they were two, and two writes to the client. */
const READ = Buffer.allocUnsafeSlow(131_072)
const SWITCHING = 101
/**
 * The most steps of a reader for one read: after more, other connections have their turn. libuv reads up to 32 times
 * before: instances that send small chunks without end took another account's request from 10 ms to 30 s.
 */
const STEPS_MAX = 256
/** No connection came about: the server has just ended, is away, or has no address. */
const GONE = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
const RESET = new Set(['ECONNRESET', 'EPIPE'])
const LATE = 'ETIMEDOUT'

export type HttpRequest = RequestHead & { readonly body: HttpRequestBody | undefined }

/** A text, which goes out with the head, or what sends the body as it comes. */
export type HttpRequestBody =
  | TextBody
  | {
      readonly length: number | undefined
      /** Begins, and returns an end of that. */
      send(socket: Socket, events: BodyEvents): () => void
    }

/** `length`: its bytes in UTF-8. */
type TextBody = { readonly length: number; readonly text: string }
const NO_BODY: TextBody = { length: 0, text: '' }

export type BodyEvents = {
  /** So many bytes have come from the client. */
  read(bytes: number): void
  /** All of it is on its way. */
  sent(): void
  failed(error: Error): void
}

/** Takes an answer, which ends with `end`, `switched` or `failed`. */
export interface AnswerTaker {
  /** The server is there and gets the request. */
  asked?(): void
  interim(status: number): void
  head(head: HttpHead): void
  /** The bytes are valid until `waits()` or `end()` returns. */
  piece(bytes: Buffer): void
  /** All that has come is given; the answer is not whole. False: nothing more until `resume()`. */
  waits(): boolean
  end(trailers: readonly string[]): void
  /** The connection speaks the protocol that the request has asked for. */
  switched(head: HttpHead, socket: Duplex): void
  /** With NotAnswered where the connection has ended, Overdue, NotHttp, or the error of the socket or the body. */
  failed(error: Error): void
}

/** The longest waits: for the connection, for the head of an answer behind it, and between two pieces of its body. */
export type WaitLimits = Readonly<Record<AwaitedPart, number>>

/** CPU of this process by the bytes that caused it. */
export type PieceCounter = { piece(bytes: number): void }

/** Called when an answer has ended, with whether another request may follow, and at the end of the connection. */
export type Unused = (connection: HttpConnection, mayFollow: boolean) => void

export class HttpConnection {
  /** The time at which it began to wait: for the awaited part, or unused for a request. */
  sinceMs = 0
  /** The time for which the server keeps it unused, where the server has said so. */
  keptMs: number | undefined
  readonly #socket: Socket
  readonly #reader: HttpAnswerReader
  readonly #work: PieceCounter
  readonly #unused: Unused
  #taker: AnswerTaker | undefined
  #awaited: AwaitedPart = 'connection'
  #isConnected = false
  #isPaused = false
  #isUpgrade = false
  #isLast = false
  #isSwitched = false
  /** Ends the body that is being sent. */
  #endBody: (() => void) | undefined

  constructor(place: ServerPlace, work: PieceCounter, unused: Unused) {
    this.#work = work
    this.#unused = unused
    this.#reader = new HttpAnswerReader({
      interim: (head) => this.#interim(head),
      head: (head) => this.#head(head),
      piece: (bytes) => this.#taker?.piece(bytes),
      end: (trailers) => this.#end(trailers),
    })
    const callback = (count: number) => {
      const readsOn = this.#read(READ.subarray(0, count))
      // The way of the bytes to the client is part of it.
      this.#work.piece(count)
      return readsOn
    }
    this.#socket = openSocket(place, { buffer: READ, callback }, () => this.#connected())
    this.#socket.on('error', (error) => this.#fail(this.#errorOf(error)))
    this.#socket.on('end', () => this.#ended())
    this.#socket.on('close', () => this.#fail(this.#broken()))
  }

  /** It is unused. Throws NotHttp for a request that cannot be sent. */
  ask(request: HttpRequest, taker: AnswerTaker): void {
    const head = requestText(request)
    const { body } = request
    this.#taker = taker
    this.#isUpgrade = request.isUpgrade
    this.#reader.begin(request.method === 'HEAD')
    this.sinceMs = performance.now()
    if (this.#isConnected) {
      this.#awaited = 'head'
      taker.asked?.()
    }
    if (body === undefined) return this.#write(head)
    if ('text' in body) return this.#write(head, body)
    this.#write(head)
    this.#endBody = body.send(this.#socket, {
      read: (bytes) => this.#work.piece(bytes),
      sent: () => (this.#endBody = undefined),
      failed: (error) => this.#fail(error),
    })
  }

  /** The taker has room again. */
  resume(): void {
    this.#isPaused = false
    this.sinceMs = performance.now()
    this.#socket.resume()
  }

  /** Fails a request that has waited for longer than it may. */
  endLate(limits: WaitLimits, nowMs: number): void {
    if (this.#taker === undefined || this.#isPaused) return
    if (nowMs - this.sinceMs >= limits[this.#awaited]) this.#fail(new Overdue(this.#awaited))
  }

  /** Fails the request under way, which is not asked again. */
  end(): void {
    this.#fail(new Failure('The connections to the server have been closed'))
  }

  /** The taker hears nothing more. */
  destroy(): void {
    this.#taker = undefined
    this.#leave()
  }

  /** As one piece where the body has a byte for each character: a head is of Latin-1. */
  #write(head: string, { text, length }: TextBody = NO_BODY): void {
    const socket = this.#socket
    this.#work.piece(head.length + length)
    if (length === text.length) return void socket.write(head + text, 'latin1')
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(text, 'utf8')
    socket.uncork()
  }

  #connected(): void {
    this.#isConnected = true
    this.#awaited = 'head'
    this.sinceMs = performance.now()
    this.#taker?.asked?.()
  }

  /** Returns whether to read on. */
  #read(bytes: Buffer): boolean {
    if (this.#isSwitched) return this.#socket.push(Buffer.from(bytes))
    try {
      const count = this.#taker === undefined ? 0 : this.#reader.read(bytes)
      if (this.#isSwitched) return this.#socket.push(Buffer.from(bytes.subarray(count)))
      // Nobody has asked for more: it would be taken for the next answer.
      if (count < bytes.length) this.#leave()
    } catch (error) {
      this.#fail(error as Error)
    }
    if (this.#awaited === 'body') this.sinceMs = performance.now()
    const readsOn = this.#taker?.waits() ?? true
    this.#isPaused = !readsOn
    if (!readsOn || this.#reader.stepsCount <= STEPS_MAX) return readsOn
    setImmediate(() => this.resume())
    return false
  }

  #interim(head: HttpHead): void {
    if (head.status !== SWITCHING) return this.#taker?.interim(head.status)
    if (!this.#isUpgrade) throw new NotHttp('Another protocol, for which nobody has asked')
    const taker = this.#taker
    this.#isSwitched = true
    this.#taker = undefined
    this.#unused(this, false)
    taker?.switched(head, this.#socket)
  }

  #head(head: HttpHead): void {
    this.#awaited = 'body'
    this.#isLast = head.isLast
    this.keptMs = head.keptMs
    this.#taker?.head(head)
  }

  #end(trailers: readonly string[]): void {
    const taker = this.#taker
    // It has ended with a failure.
    if (taker === undefined) return
    this.#taker = undefined
    // An answer that came before the whole request was sent: its rest would be taken for the next one.
    const isUnsent = this.#endBody !== undefined || this.#socket.writableLength > 0
    if (this.#isLast || isUnsent) this.#leave()
    else this.#unused(this, true)
    taker.end(trailers)
  }

  #ended(): void {
    this.#isLast = true
    if (this.#taker === undefined || !this.#reader.ended()) this.#fail(this.#broken())
  }

  #broken(): NotAnswered {
    return new NotAnswered({ isReset: true, hasBegun: this.#reader.hasBegun })
  }

  #errorOf(error: NodeJS.ErrnoException): Error {
    const { code = '' } = error
    if (RESET.has(code) || (code === LATE && this.#isConnected)) return this.#broken()
    const isGone = !this.#isConnected && (GONE.has(code) || code === LATE)
    return isGone ? new NotAnswered({ isReset: false }) : error
  }

  #fail(error: Error): void {
    const taker = this.#taker
    this.destroy()
    taker?.failed(error)
  }

  /** A connection that has been switched is another's. */
  #leave(): void {
    this.#endBody?.()
    this.#endBody = undefined
    if (!this.#isSwitched) this.#socket.destroy()
    this.#unused(this, false)
  }
}
