// One request to a running instance, and its answer: both are streamed. The figure of energy is of the runtime's own count of
// its CPU: a readout, which no bill is made of.
import type { IncomingHttpHeaders } from 'node:http'
import { Readable, type Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { shareHeaders, SHARE_TRAILERS } from './energy-figures.ts'
import type { IngressRequest, IngressResponse, UpgradeSocket } from './exchange.ts'
import { failedFault, isAnswerStatus } from './failed.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { headersFrom, headersTo } from './headers.ts'
import { joinConnections } from './join-connections.ts'
import { rulesOfKind } from './kinds.ts'
import { NotAnswered } from './not-answered.ts'

/** Of our runtime: processing. */
const WAITS = 102
/** No body follows them (RFC 9110, 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304])
/** Nobody listens there: the process has just ended, or another version follows. */
const GONE = new Set(['ECONNREFUSED', 'ENOENT', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])
const RESET = new Set(['ECONNRESET', 'EPIPE'])
/** Of undici, for a connection that ends before the answer. */
const CLOSED = 'other side closed'

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
    const passage = new Passage(response, given, { resolve, reject }, upgrade)
    try {
      given.pool.dispatch(
        {
          method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
          path: given.path,
          headers: headersTo(request, given),
          body: hasBody(request) ? Readable.from(bodyOf(request, given)) : null,
          ...(upgrade && { upgrade: 'websocket' }),
        },
        passage,
      )
    } catch (error) {
      passage.onResponseError(undefined, error as Error)
    }
  })
}

export const hasBody = (request: IngressRequest): boolean =>
  'stream' in request
    ? !request.stream.endAfterHeaders
    : request.headers['transfer-encoding'] !== undefined ||
      (request.headers['content-length'] ?? '0') !== '0'

/** Nothing of it is read before the process has taken the connection. */
async function* bodyOf(
  request: IngressRequest,
  { kind }: ForwardedRequest,
): AsyncGenerator<Buffer, void> {
  const { bodyBytesMax } = rulesOfKind(kind)
  let bytes = 0
  // The client reads why its body is refused: its connection stays.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length
    if (bytes > bodyBytesMax)
      throw fault('body_too_large', `Could not take the body: the most is ${bodyBytesMax} bytes`)
    yield chunk as Buffer
  }
}

/** Why the instance has not answered, as the error for the client. */
function faultOf(error: Error, { kind, signal }: ForwardedRequest): Error {
  if (signal.aborted) return signal.reason as Error
  if (error instanceof ErgonError || error instanceof NotAnswered) return error
  const { code = '' } = error as NodeJS.ErrnoException
  const isReset = RESET.has(code) || error.message === CLOSED
  return isReset || GONE.has(code) ? new NotAnswered(isReset) : failedFault(kind)
}

type Settled = { resolve(): void; reject(error: Error): void }

/** An answer on its way to the client. */
class Passage implements Dispatcher.DispatchHandler {
  readonly #response: IngressResponse
  readonly #given: ForwardedRequest
  readonly #settled: Settled
  readonly #upgrade: UpgradeSocket | undefined
  #controller: Dispatcher.DispatchController | undefined
  #hasTrailers = false
  /** All of it is written. */
  #isWhole = false

  constructor(
    response: IngressResponse,
    given: ForwardedRequest,
    settled: Settled,
    upgrade: UpgradeSocket | undefined,
  ) {
    this.#response = response
    this.#given = given
    this.#settled = settled
    this.#upgrade = upgrade
    const { signal } = given
    signal.addEventListener('abort', () => this.#cut(signal.reason as Error), { once: true })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    const { signal } = this.#given
    if (signal.aborted) this.#cut(signal.reason as Error)
  }

  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    _status: number,
    headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    const upgrade = this.#upgrade
    if (upgrade === undefined) {
      socket.destroy()
      return controller.abort(failedFault(this.#given.kind))
    }
    this.#given.begun(true)
    const head = { ...headersFrom(headers), 'x-request-id': this.#given.requestId }
    void joinConnections(upgrade, socket, { head, signal: this.#given.signal }).then(
      this.#settled.resolve,
    )
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    const { kind } = this.#given
    const { hasOurRuntime } = rulesOfKind(kind)
    if (hasOurRuntime && status === WAITS) return this.#given.waits()
    if (status >= 100 && status < 200) return
    if (!isAnswerStatus(status) || (hasOurRuntime && headers['x-ergon-failed'] !== undefined))
      return controller.abort(failedFault(kind))
    const response = this.#response
    try {
      response.writeHead(status, this.#headersFor(status, headers))
    } catch {
      // A header that the parser reads and Node does not write. Our refusal has a reason of its own.
      if (response.req.httpVersion !== '2.0') response.statusMessage = ''
      return controller.abort(failedFault(kind))
    }
    this.#given.begun(false)
    response.on('drain', () => controller.resume())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#response.write(chunk)) controller.pause()
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    if (this.#hasTrailers)
      this.#response.addTrailers(shareHeaders(trailers['x-ergon-cpu-us'], this.#given.tariff))
    this.#isWhole = true
    // A whole answer ends with its connection, or its stream.
    this.#response.once('close', this.#settled.resolve)
    this.#response.end()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#cut(faultOf(error, this.#given))
  }

  #headersFor(status: number, headers: IncomingHttpHeaders): Record<string, string | string[]> {
    const { requestId, tariff, kind, added } = this.#given
    const kept = Object.assign(headersFrom(headers), added)
    kept['x-request-id'] = requestId
    if (tariff !== undefined) kept['X-Routed-To'] = tariff.routedTo
    if (!rulesOfKind(kind).hasOurRuntime) return kept
    const known = headers['x-ergon-cpu-us']
    if (known !== undefined) return Object.assign(kept, shareHeaders(known, tariff))
    this.#hasTrailers = isChunked(status, headers, this.#response)
    if (this.#hasTrailers) kept['trailer'] = SHARE_TRAILERS
    return kept
  }

  /** Ends both sides; an answer that has begun is cut off. */
  #cut(error: Error): void {
    if (this.#isWhole) return this.#settled.resolve()
    this.#controller?.abort(error)
    if (this.#response.headersSent) this.#response.destroy()
    this.#settled.reject(error)
  }
}

/** True where the client gets chunks, or frames: trailers may follow those alone. */
const isChunked = (status: number, headers: IncomingHttpHeaders, { req }: IngressResponse) =>
  req.method !== 'HEAD' &&
  req.httpVersion !== '1.0' &&
  !BODILESS.has(status) &&
  headers['content-length'] === undefined
