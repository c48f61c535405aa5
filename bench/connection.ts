// One keep-alive connection on a bare socket. It sends a request as soon as its last answer is whole (closed loop), and
// parses only the frame of an answer: its status and its end.
import { connect, type Socket } from 'node:net'

const ANSWER_MS_MAX = 5000

export type Answered = {
  readonly ms: number
  /** Bytes of the body. */
  readonly bytes: number
  readonly isOk: boolean
  readonly head: string
  /** The bytes of the request. */
  readonly request: readonly Buffer[]
}

export type Work = {
  readonly port: number
  /** The bytes of the next request; undefined when nothing is left. */
  next(): readonly Buffer[] | undefined
  answered(answer: Answered): void
  /** The connection broke; it opens another. */
  broke(): void
}

export class Connection {
  readonly #work: Work
  #socket: Socket
  #head = ''
  #status = ''
  /** Bytes of the body still to come; -1 when it is chunked; -2 while the head is read. */
  #left = -2
  #bytes = 0
  #tail = ''
  #sentMs = 0
  #request: readonly Buffer[] = []
  #isEnding = false

  constructor(work: Work) {
    this.#work = work
    this.#socket = this.#open()
  }

  /** Ends when its answer is whole: the server would treat an earlier end as a caller who leaves. */
  close(): void {
    this.#isEnding = true
    this.#socket.removeAllListeners('close')
    setTimeout(() => this.#socket.destroy(), ANSWER_MS_MAX).unref()
  }

  #open(): Socket {
    const socket = connect({ host: '127.0.0.1', port: this.#work.port, noDelay: true })
    socket.on('connect', () => this.#send())
    socket.on('data', (bytes) => this.#read(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#work.broke()
      this.#head = ''
      this.#socket = this.#open()
    })
    return socket
  }

  #send(): void {
    this.#bytes = 0
    this.#tail = ''
    this.#left = -2
    const pieces = this.#isEnding ? undefined : this.#work.next()
    if (pieces === undefined) {
      this.#socket.removeAllListeners('close')
      this.#socket.destroy()
      return
    }
    this.#request = pieces
    this.#sentMs = performance.now()
    this.#socket.cork()
    for (const piece of pieces) this.#socket.write(piece)
    this.#socket.uncork()
  }

  #read(bytes: Buffer): void {
    if (this.#left !== -2) return this.#readBody(bytes)
    const text = this.#head + bytes.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#head = text
      return
    }
    const body = bytes.subarray(end + 4 - this.#head.length)
    this.#head = ''
    this.#status = text.slice(0, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#status)?.[1]
    this.#left = length === undefined ? -1 : Number(length)
    if (body.length > 0 || this.#left === 0) this.#readBody(body)
  }

  #readBody(bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#left >= 0) {
      this.#left -= bytes.length
      if (this.#left <= 0) this.#done()
      return
    }
    // The end of a chunked body, with or without trailers, is its only empty line in CRLF.
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - 4))).slice(-4)
    if (this.#tail === '\r\n\r\n') this.#done()
  }

  #done(): void {
    this.#work.answered({
      ms: performance.now() - this.#sentMs,
      bytes: this.#bytes,
      isOk: this.#status.startsWith('HTTP/1.1 200'),
      head: this.#status,
      request: this.#request,
    })
    this.#send()
  }
}
