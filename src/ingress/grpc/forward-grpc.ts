// One call of gRPC to a running instance: messages go both ways as they come, and the status in the trailers behind them.
import type {
  ClientHttp2Stream,
  Http2ServerRequest,
  Http2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
  OutgoingHttpHeaders,
} from 'node:http2'
import { ErgonError } from '#base/errors.ts'
import { INTERIM_MAX } from '#base/limit-interim.ts'
import { fault } from '#contract/errors.ts'
import type { IngressResponse } from '#ingress/exchange.ts'
import { failedFault, isAnswerStatus, unansweredFault } from '#ingress/failed.ts'
import type { ForwardedRequest } from '#ingress/forwarded-request.ts'
import { headersFrom, headersTo, recordOf } from '#ingress/headers.ts'
import { rulesOfKind, type RoutedKind } from '#ingress/kinds.ts'
import type { GrpcSession } from './grpc-session.ts'
import { NotAnswered } from '#http-client/not-answered.ts'

/** RFC 9113, 6.2 and 7. The module itself is loaded by the first call. */
const END_STREAM = 1
const NO_ERROR = 0
const INTERNAL_ERROR = 2
const CANCEL = 8
const STATUS_OK = 200
/** No message goes either way; as long as that of a WebSocket. */
const SILENCE_MS = 600_000
const NOT_HTTP2 = 'does not speak HTTP/2, which gRPC needs'

/**
 * Resolves when the call has ended. Rejects with a fault, or NotAnswered, while nothing of the answer has gone out; nothing
 * of the call is read before the instance has taken the connection.
 */
export async function forwardGrpc(
  request: Http2ServerRequest,
  response: IngressResponse,
  given: ForwardedRequest,
): Promise<void> {
  const session = await sessionOf(given)
  const call = session.call(headersOfCall(request, given))
  const cancel = () => call.close(CANCEL)
  given.ending.listen(cancel)
  await pass(request, response, { session, call }, given)
}

async function sessionOf({ pool, kind, ending }: ForwardedRequest): Promise<GrpcSession> {
  const session = await pool.grpc.open().catch((error: unknown) => {
    throw error instanceof NotAnswered ? error : failedFault(kind, NOT_HTTP2)
  })
  if (ending.reason !== undefined) throw ending.reason
  return session
}

function headersOfCall(request: Http2ServerRequest, given: ForwardedRequest): OutgoingHttpHeaders {
  const headers = recordOf(headersTo(request, given))
  delete headers['host']
  return {
    ...headers,
    ':method': request.method,
    ':path': given.path,
    ':authority': given.host,
    te: 'trailers',
  }
}

function pass(
  { stream }: Http2ServerRequest,
  response: IngressResponse,
  { session, call }: { readonly session: GrpcSession; readonly call: ClientHttp2Stream },
  given: ForwardedRequest,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let failed: Error | undefined
    /** Its status has come. A reset without an error ends the messages as well. */
    let isWhole = false
    /** Code may send what Node does not write. */
    const attempt = (act: () => void) => {
      try {
        act()
      } catch {
        failed ??= failedFault(given.kind)
        call.close(CANCEL)
      }
    }
    call.once('response', (headers, flags) =>
      attempt(() => {
        isWhole = (flags & END_STREAM) !== 0
        beginAnswer(response, headers, given, isWhole)
        given.begun(false)
        // Frames without a message renew nothing.
        call.setTimeout(given.silenceMs ?? SILENCE_MS, cancel)
      }),
    )
    const cancel = () => call.close(CANCEL)
    let interim = 0
    call.on('headers', () => {
      if (++interim <= INTERIM_MAX) return
      failed ??= failedFault(given.kind)
      call.close(CANCEL)
    })
    call.on('data', (chunk: Buffer) => {
      given.pool.work.piece(chunk.length)
      // Messages behind a refused head would go out in place of the refusal.
      if (failed === undefined && !response.write(chunk)) call.pause()
    })
    response.on('drain', () => call.resume())
    call.once('trailers', (trailers) =>
      attempt(() => {
        response.addTrailers(passedOn(STATUS_OK, trailers))
        isWhole = true
      }),
    )
    call.once('end', () => isWhole && response.headersSent && response.end())
    call.once('error', (error) => (failed ??= error))
    call.once('close', () => {
      const error =
        session.isGone && !(failed instanceof ErgonError)
          ? new NotAnswered({ isReset: true })
          : failed
      if (!response.headersSent) return reject(unansweredFault(error, given))
      // An answer that was cut off must not look whole.
      if (call.rstCode !== NO_ERROR || !isWhole) stream.close(call.rstCode || INTERNAL_ERROR)
      resolve()
    })
    limitBody(stream, given.kind, (error) => {
      failed = error
      call.close(CANCEL)
    })
    stream.pipe(call)
    given.pool.work.count(stream)
  })
}

/**
 * A status without messages is one frame, at which the answer ends ("Trailers-Only"). Throws for headers that Node
 * does not write.
 */
function beginAnswer(
  response: IngressResponse,
  { ':status': status = STATUS_OK, ...headers }: IncomingHttpHeaders & IncomingHttpStatusHeader,
  { requestId, tariff, added, kind }: ForwardedRequest,
  isEnd: boolean,
): void {
  if (!isAnswerStatus(status)) throw failedFault(kind)
  const sent = {
    ...passedOn(status, headers),
    ...added,
    'x-request-id': requestId,
    ...(tariff && { 'x-routed-to': tariff.routedTo }),
  }
  if (!isEnd) return void response.writeHead(status, sent)
  response.statusCode = status
  for (const [name, value] of Object.entries(sent)) response.setHeader(name, value)
  response.end()
}

const passedOn = (
  status: number,
  headers: IncomingHttpHeaders,
): Record<string, string | string[]> => recordOf(headersFrom({ status, headers: pairsOf(headers) }))

const pairsOf = (headers: IncomingHttpHeaders): string[] =>
  Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().flatMap((value) => [name, value]),
  )

function limitBody(stream: Http2Stream, kind: RoutedKind, over: (error: Error) => void): void {
  const { bodyBytesMax } = rulesOfKind(kind)
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bodyBytesMax)
      over(fault('body_too_large', `Could not take the call: the most is ${bodyBytesMax} bytes`))
  })
}
