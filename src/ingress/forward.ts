// One request to a running instance, and its answer: both are streamed. The figure of energy is of the runtime's own count of
// its CPU: a readout, which no bill is made of.
import type { Duplex } from 'node:stream'
import { malformed } from '#http/request-form.ts'
import { shareHeaders, SHARE_TRAILERS } from './energy-figures.ts'
import {
  cutOff,
  type IngressRequest,
  type IngressResponse,
  type UpgradeSocket,
} from './exchange.ts'
import { failedFault, isAnswerStatus, unansweredFault } from './failed.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { addHeaders, headersFrom, recordOf, writeHead } from './headers.ts'
import { instanceRequest } from './instance-request.ts'
import { NotHttp, valueOf, type HttpHead } from '#http-client/heads.ts'
import type { AnswerTaker, HttpConnection } from '#http-client/http-connection.ts'
import { joinConnections } from './join-connections.ts'
import { rulesOfKind } from './kinds.ts'
import { dropRest, onceGone } from './rest-of-body.ts'

/** Our runtime answers this status (processing) before the answer itself. */
const WAITS = 102
/** No body follows them (RFC 9110, 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304])
/** Its body is read as any other, and there is none for the client (RFC 9110, 15.3.6). */
const RESET_CONTENT = 205
/** A body up to this goes out with its head as one string, which is one copy, and one call of the system. */
const SMALL_BYTES_MAX = 16_384

/**
 * Resolves when the answer has gone out, or the connection that `upgrade` has become has ended. Rejects with a fault, or
 * NotAnswered, while nothing of the answer has gone out.
 */
export function forward(
  request: IngressRequest,
  response: IngressResponse,
  given: ForwardedRequest,
  upgrade?: UpgradeSocket,
): Promise<void> {
  return new Promise((resolve, reject) => {
    new Passage(request, response, { given, settled: { resolve, reject }, upgrade }).begin()
  })
}

type Settled = { resolve(): void; reject(error: Error): void }

/** An answer on its way to the client. */
class Passage implements AnswerTaker {
  readonly #request: IngressRequest
  readonly #response: IngressResponse
  readonly #given: ForwardedRequest
  readonly #settled: Settled
  readonly #upgrade: UpgradeSocket | undefined
  #connection: HttpConnection | undefined
  /** Of the body, as far as it is read now. */
  #pieces: Buffer[] = []
  /** The body is one that the status does not have. */
  #isDropped = false
  #hasTrailers = false
  /** The answer is read to its end, or its reading has failed. */
  #isEnded = false

  constructor(
    request: IngressRequest,
    response: IngressResponse,
    {
      given,
      settled,
      upgrade,
    }: {
      readonly given: ForwardedRequest
      readonly settled: Settled
      readonly upgrade: UpgradeSocket | undefined
    },
  ) {
    this.#request = request
    this.#response = response
    this.#given = given
    this.#settled = settled
    this.#upgrade = upgrade
  }

  begin(): void {
    const { ending, pool } = this.#given
    if (ending.reason !== undefined) return this.failed(ending.reason)
    ending.listen((reason) => this.#leave(reason))
    try {
      const sent = instanceRequest(this.#request, this.#given, this.#upgrade !== undefined)
      this.#connection = pool.ask(sent, this)
    } catch (error) {
      this.failed(error instanceof NotHttp ? malformed(error.message) : (error as Error))
    }
  }

  interim(status: number): void {
    if (status === WAITS && rulesOfKind(this.#given.kind).hasOurRuntime) this.#given.waits()
  }

  switched(switching: HttpHead, socket: Duplex): void {
    this.#isEnded = true
    const { ending, requestId, pool } = this.#given
    this.#given.begun(true)
    const head = { ...recordOf(headersFrom(switching)), 'x-request-id': requestId }
    // Asked for by an upgrade alone.
    const upgrade = this.#upgrade as UpgradeSocket
    void joinConnections(upgrade, socket, { head, work: pool.work, ending }).then(
      this.#settled.resolve,
    )
  }

  head(head: HttpHead): void {
    const { kind } = this.#given
    const { hasOurRuntime, whyFailed } = rulesOfKind(kind)
    const failure = hasOurRuntime ? valueOf(head.headers, 'x-ergon-failed') : undefined
    if (failure === 'load') return this.failed(failedFault(kind, `failed: ${whyFailed}`))
    if (!isAnswerStatus(head.status) || failure !== undefined) return this.failed(failedFault(kind))
    const response = this.#response
    this.#isDropped = head.status === RESET_CONTENT
    try {
      writeHead(response, head.status, this.#headersFor(head))
    } catch {
      // A header that is read and that Node does not write. Our refusal has a reason of its own.
      if (response.req.httpVersion !== '2.0') response.statusMessage = ''
      return this.failed(failedFault(kind))
    }
    this.#given.begun(false)
  }

  piece(bytes: Buffer): void {
    if (!this.#isDropped) this.#pieces.push(bytes)
  }

  waits(): boolean {
    const response = this.#response
    if (this.#pieces.length === 0) {
      // A client that waits for events sees that the stream is open.
      if (response.headersSent) response.flushHeaders()
      return true
    }
    const isTaken = response.write(Buffer.concat(this.#pieces))
    this.#pieces = []
    if (!isTaken) response.once('drain', () => void (this.#isEnded || this.#connection?.resume()))
    return isTaken
  }

  end(trailers: readonly string[]): void {
    this.#isEnded = true
    if (this.#hasTrailers) {
      const figure = valueOf(trailers, 'x-ergon-cpu-us')
      this.#response.addTrailers(shareHeaders(figure, this.#given.tariff))
    }
    // A whole answer ends with its connection, or its stream.
    onceGone(this.#request, this.#response, this.#settled.resolve)
    this.#response.end(lastOf(this.#pieces), 'latin1')
    dropRest(this.#request, this.#response)
  }

  /** An answer that has begun is cut off. */
  failed(error: Error): void {
    this.#isEnded = true
    this.#connection?.destroy()
    if (this.#response.headersSent) cutOff(this.#response)
    this.#settled.reject(unansweredFault(error, this.#given))
  }

  /** The request is to end: both sides do, and a whole answer has. */
  #leave(reason: Error): void {
    if (this.#isEnded) this.#settled.resolve()
    else this.failed(reason)
  }

  #headersFor(head: HttpHead): string[] {
    const { status, headers, length } = head
    const { requestId, tariff, kind, added } = this.#given
    const kept = headersFrom(head)
    if (status === RESET_CONTENT) kept.push('content-length', '0')
    addHeaders(kept, added)
    kept.push('x-request-id', requestId)
    if (tariff !== undefined) kept.push('X-Routed-To', tariff.routedTo)
    if (!rulesOfKind(kind).hasOurRuntime) return kept
    const figure = valueOf(headers, 'x-ergon-cpu-us')
    if (figure !== undefined) addHeaders(kept, shareHeaders(figure, tariff))
    else this.#hasTrailers = length === undefined && takesTrailers(status, this.#response)
    if (this.#hasTrailers) kept.push('trailer', SHARE_TRAILERS)
    return kept
  }
}

/** A copy. */
function lastOf(pieces: readonly Buffer[]): string | Buffer {
  const [first = ''] = pieces
  const isSmall = pieces.length <= 1 && first.length <= SMALL_BYTES_MAX
  return isSmall ? first.toString('latin1') : Buffer.concat(pieces)
}

/** True where the client gets chunks, or frames: trailers may follow those alone. */
const takesTrailers = (status: number, { req }: IngressResponse): boolean =>
  req.method !== 'HEAD' && req.httpVersion !== '1.0' && !BODILESS.has(status)
