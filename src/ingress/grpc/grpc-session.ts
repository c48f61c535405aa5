// The connection of HTTP/2 to one running instance, without TLS (RFC 9113, 3.3): made by the first call of gRPC, and made
// again after it has ended.
import { connect as connectSocket } from 'node:net'
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2'
import type { PieceCounter } from '#http-client/http-connection.ts'
import { NotAnswered } from '#http-client/not-answered.ts'

/** No call is open, whatever the instance sends. */
const IDLE_MS = 1000
/** Until the first frame: a peer that does not speak HTTP/2 may wait for more. */
const BEGIN_MS = 5000
const SETTINGS = { enablePush: false, maxHeaderListSize: 32_768 }

export interface GrpcSession {
  call(headers: OutgoingHttpHeaders): ClientHttp2Stream
  readonly isGone: boolean
}

export interface GrpcSessions {
  /** Resolves with a connection at which HTTP/2 is spoken. Throws NotAnswered where there is none. */
  open(): Promise<GrpcSession>
  /** Ends it after its last call. */
  close(): void
  destroy(): void
}

export function createGrpcSessions(socketPath: string, work: PieceCounter): GrpcSessions {
  let current: OwnSession | undefined
  let opening: Promise<OwnSession> | undefined
  const connect = async (): Promise<OwnSession> => {
    // Loaded only where gRPC is called.
    const http2 = await import('node:http2')
    const session = http2.connect('http://instance', {
      createConnection: () => connectSocket(socketPath),
      settings: SETTINGS,
    })
    // A call that is open gets the error too.
    session.on('error', () => undefined)
    const late = setTimeout(() => session.destroy(), BEGIN_MS)
    session.once('close', () => clearTimeout(late))
    // Node answers them without a call: they are the instance's own.
    const frame = () => work.piece(0)
    session.on('ping', frame).on('remoteSettings', frame)
    await new Promise<void>((resolve, reject) => {
      let isTaken = false
      session.once('connect', () => (isTaken = true))
      session.once('remoteSettings', () => resolve())
      session.once('close', () =>
        reject(
          isTaken ? new TypeError('HTTP/2 is not spoken') : new NotAnswered({ isReset: false }),
        ),
      )
    })
    clearTimeout(late)
    return new OwnSession(session)
  }
  return {
    async open() {
      if (current?.isGone === false) return current
      opening ??= connect().finally(() => (opening = undefined))
      return (current = await opening)
    },
    close: () => current?.close(),
    destroy: () => current?.destroy(),
  }
}

class OwnSession implements GrpcSession {
  readonly #session: ClientHttp2Session
  #open = 0
  #isClosed = false
  #rest: NodeJS.Timeout | undefined

  constructor(session: ClientHttp2Session) {
    this.#session = session
    session.once('close', () => clearTimeout(this.#rest))
    this.#restLater()
  }

  get isGone(): boolean {
    return this.#isClosed || this.#session.closed || this.#session.destroyed
  }

  call(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const call = this.#session.request(headers)
    this.#open++
    clearTimeout(this.#rest)
    call.once('close', () => {
      this.#open--
      this.#restLater()
    })
    return call
  }

  close(): void {
    this.#isClosed = true
    if (this.#open === 0) this.destroy()
  }

  destroy(): void {
    this.#session.destroy()
  }

  /** Node's close() would wait for the instance to end the connection. */
  #restLater(): void {
    if (this.#open > 0) return
    if (this.#isClosed) return this.destroy()
    this.#rest = setTimeout(() => this.destroy(), IDLE_MS).unref()
  }
}
