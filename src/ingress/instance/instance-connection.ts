// One connection of HTTP/1.1 to an instance: a request after the other, each with its answer. Bytes are read without the
// readable stream of the socket, into memory that all connections share: they are taken before the next read.
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { NotAnswered } from '#ingress/not-answered.ts'
import type { CausedWork } from '#node/meter/caused-by-cells.ts'
import { NotHttp, requestText, type InstanceHead, type RequestHead } from './heads.ts'
import { InstanceAnswerReader } from './read-answer.ts'
import { sendBody, type RequestBody } from './send-body.ts'

/** A page of 64 KiB and its head come in one read. With 64 KiB they were two, and two writes to the client. */
const READ = Buffer.allocUnsafeSlow(131_072)
const SWITCHING = 101
/**
 * Of a reader, for one read: after more, other connections have their turn. libuv reads up to 32 times before: instances
 * that send small chunks without end took another account's request from 10 ms to 30 s.
 */
const STEPS_MAX = 256
/** Nobody listens there: the process has just ended, or another version follows. */
const GONE = new Set(['ECONNREFUSED', 'ENOENT'])
const RESET = new Set(['ECONNRESET', 'EPIPE'])

export type InstanceRequest = RequestHead & { readonly body: RequestBody | undefined }

/** Takes an answer, which ends with `end`, `switched` or `failed`. */
export interface AnswerTaker {
  interim(status: number): void
  head(head: InstanceHead): void
  /** The bytes are valid until `waits()` or `end()` returns. */
  piece(bytes: Buffer): void
  /** All that has come is given; the answer is not whole. False: nothing more until `resume()`. */
  waits(): boolean
  end(trailers: readonly string[]): void
  /** The connection speaks the protocol that the request has asked for. */
  switched(head: InstanceHead, socket: Duplex): void
  /** With NotAnswered where the connection has ended, NotHttp, or the error of the socket or the body. */
  failed(error: Error): void
}

/** Called when an answer has ended, with whether another request may follow, and at the end of the connection. */
export type Unused = (connection: InstanceConnection, mayFollow: boolean) => void

export class InstanceConnection {
  /** When its last answer ended. */
  idleSinceMs = 0
  readonly #socket: Socket
  readonly #reader: InstanceAnswerReader
  readonly #work: Pick<CausedWork, 'piece'>
  readonly #unused: Unused
  #taker: AnswerTaker | undefined
  #isUpgrade = false
  #isLast = false
  #isSwitched = false
  /** Ends the body that is being sent. */
  #endBody: (() => void) | undefined

  constructor(path: string, work: Pick<CausedWork, 'piece'>, unused: Unused) {
    this.#work = work
    this.#unused = unused
    this.#reader = new InstanceAnswerReader({
      interim: (head) => this.#interim(head),
      head: (head) => {
        this.#isLast = head.isLast
        this.#taker?.head(head)
      },
      piece: (bytes) => this.#taker?.piece(bytes),
      end: (trailers) => this.#end(trailers),
    })
    const callback = (count: number) => {
      const readsOn = this.#read(READ.subarray(0, count))
      // The CPU of passing the bytes to the client counts too.
      this.#work.piece(count)
      return readsOn
    }
    this.#socket = connect({ path, onread: { buffer: READ, callback } })
    this.#socket.on('error', (error) => this.#fail(errorOf(error)))
    this.#socket.on('end', () => this.#ended())
    this.#socket.on('close', () => this.#fail(new NotAnswered(true)))
  }

  /** It is unused. Throws NotHttp for a request that cannot be sent. */
  ask(request: InstanceRequest, taker: AnswerTaker): void {
    const text = requestText(request)
    this.#taker = taker
    this.#isUpgrade = request.isUpgrade
    this.#reader.begin(request.method === 'HEAD')
    this.#socket.write(text, 'latin1')
    this.#work.piece(text.length)
    if (request.body === undefined) return
    this.#endBody = sendBody(this.#socket, request.body, {
      read: (bytes) => this.#work.piece(bytes),
      sent: () => (this.#endBody = undefined),
      failed: (error) => this.#fail(error),
    })
  }

  /** The taker has room again. */
  resume(): void {
    this.#socket.resume()
  }

  /** The taker hears nothing more. */
  destroy(): void {
    this.#taker = undefined
    this.#leave()
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
    const readsOn = this.#taker?.waits() ?? true
    if (!readsOn || this.#reader.stepsCount <= STEPS_MAX) return readsOn
    setImmediate(() => this.resume())
    return false
  }

  #interim(head: InstanceHead): void {
    if (head.status !== SWITCHING) return this.#taker?.interim(head.status)
    if (!this.#isUpgrade) throw new NotHttp('Another protocol, for which nobody has asked')
    const taker = this.#taker
    this.#isSwitched = true
    this.#taker = undefined
    this.#unused(this, false)
    taker?.switched(head, this.#socket)
  }

  #end(trailers: readonly string[]): void {
    const taker = this.#taker
    // It has ended with a failure.
    if (taker === undefined) return
    this.#taker = undefined
    if (this.#isLast || this.#endBody !== undefined) this.#leave()
    else this.#unused(this, true)
    taker.end(trailers)
  }

  #ended(): void {
    this.#isLast = true
    if (this.#taker === undefined || !this.#reader.ended()) this.#fail(new NotAnswered(true))
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

function errorOf(error: NodeJS.ErrnoException): Error {
  const { code = '' } = error
  const isReset = RESET.has(code)
  return isReset || GONE.has(code) ? new NotAnswered(isReset) : error
}
