// Writes replies: settles, then the head with the final figures, then bytes; or, for a stream, the
// head with the ceiling, marked chunks with back-pressure, and the figures at its end.
import { once } from 'node:events'
import { giveBack, isLent } from '#base/buffer-pool.ts'
import type { ErgonError } from '#base/errors.ts'
import { stepsOf } from '#base/steps.ts'
import type { Spend } from '#charging/spend.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import type { Code } from '#contract/errors.ts'
import { tailClassOf } from '#metering/tail.ts'
import type { RenderedError } from './protocol-handler.ts'
import {
  ceilingHeaders,
  finalHeaders,
  pairsOf,
  TRAILERS,
  trailers,
  type HeaderList,
} from './energy-headers.ts'
import type { Exchange } from './exchange.ts'
import { toErgonError } from './problem.ts'
import {
  Pieces,
  wireBody,
  type ReplyHeaders,
  type KnownReply,
  type StreamedReply,
} from './reply.ts'

/** A reply of known length: its body is made from the settled charge. */
export async function sendKnown(
  exchange: Exchange,
  spend: Spend,
  reply: KnownReply,
): Promise<void> {
  const charge = await spend.settleAtTurnEnd(reply.status, tailClassOf(reply.bytesExpected ?? 0))
  const made = reply.body(charge)
  const pieces = made instanceof Pieces ? made.list : [wireBody(made)]
  const bodyBytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  // RFC 9110 §8.6: neither has a length.
  const hasLength = reply.status !== 204 && reply.status !== 304
  const length = reply.contentLength ?? bodyBytes
  writeHead(exchange, reply, [
    ...finalHeaders(charge, spend.requestId),
    'Content-Type',
    reply.contentType ?? 'application/json',
    ...(hasLength ? ['Content-Length', String(length)] : []),
  ])
  if (exchange.method === 'HEAD') return void exchange.response.end()
  exchange.answered.bodyBytes = bodyBytes
  const [only] = pieces
  // Most have one: head and body leave together either way, but so with less ado.
  if (pieces.length === 1 && !isLent(only)) return void exchange.response.end(only)
  for (const piece of pieces) write(exchange.response, piece)
  exchange.response.end()
}

/** Resolves once what was settled may leave; rejects when the journal could not be written: nothing may leave. */
const recorded = (spend: Pick<Spend, 'recorded'>): Promise<void> =>
  new Promise((resolve, reject) =>
    spend.recorded((failure) => (failure === undefined ? resolve() : reject(failure.error))),
  )

export async function sendError(
  exchange: Exchange,
  spend: Spend,
  error: ErgonError,
  rendered: RenderedError,
): Promise<void> {
  const { status = error.status } = rendered
  const charge = await spend.settleAtTurnEnd(status, tailClassOf(rendered.body.length))
  writeHead(exchange, { status, headers: rendered.headers }, [
    ...finalHeaders(charge, spend.requestId),
    'Content-Type',
    rendered.contentType,
    'Content-Length',
    String(Buffer.byteLength(rendered.body)),
    ...(mustClose(exchange, error) ? ['Connection', 'close'] : []),
  ])
  exchange.answered.errorCode = error.code
  exchange.answered.bodyBytes = Buffer.byteLength(rendered.body)
  exchange.response.end(rendered.body)
}

// After these nobody can say where the next request begins.
const CLOSING: ReadonlySet<string> = new Set<Code>([
  'malformed_request',
  'uri_too_long',
  'expectation_failed',
  'request_timeout',
])

/** A client that waits for 100 Continue may or may not send its body after a refusal. */
const mustClose = ({ request }: Exchange, error: ErgonError): boolean =>
  CLOSING.has(error.code) || (request.headers.expect !== undefined && !request.complete)

/**
 * Streams. A failure after the head ends the stream in the form of the reply, and is passed to `failed`.
 */
export async function sendStreamed(
  exchange: Exchange,
  spend: Spend,
  reply: StreamedReply,
  failed: (error: ErgonError, thrown: unknown) => void,
): Promise<void> {
  const { response } = exchange
  const chunks = stepsOf(reply.chunks)
  // HTTP/1.0 knows no chunks, so no trailers either: its stream ends with the connection. Nor has HEAD a body.
  const isHead = exchange.method === 'HEAD'
  const trailing =
    exchange.request.httpVersion !== '1.0' && !isHead && reply.contentLength === undefined
  // Nothing is sent before the first chunk: what fails until then is answered with its own status.
  let next = await chunks.next()
  // At every end of the stream the chunks must free their resources. Their use until then is claimed, so the work
  // settles afterwards.
  const letGo = async () => {
    try {
      await chunks.dispose()
    } catch {
      // The stream ends with the error before; this one is dropped.
    }
  }
  try {
    spend.announce(reply.status)
    await recorded(spend)
    writeHead(exchange, reply, streamHeaders(spend, reply, trailing))
  } catch (unwritable) {
    await letGo()
    throw unwritable
  }
  // RFC 9110 §9.3.2.
  if (isHead) {
    await letGo()
    return void response.end()
  }
  let error: ErgonError | undefined
  try {
    while (next !== undefined) {
      exchange.answered.bodyBytes += Buffer.byteLength(next)
      if (!write(response, next)) await once(response, 'drain', { signal: exchange.signal })
      const following = chunks.next()
      if (following instanceof Promise) spend.mark()
      next = following instanceof Promise ? await following : following
    }
  } catch (thrown) {
    error = toErgonError(exchange.signal.aborted ? exchange.signal.reason : thrown)
    failed(error, thrown)
  }
  if (error !== undefined) await letGo()
  const charge = await spend.settleAtTurnEnd(error?.status ?? reply.status)
  const last = error === undefined ? reply.last(charge) : reply.cut(error, charge)
  if (error === undefined) await reply.finished?.(charge, last)
  if (response.destroyed) return
  // Where the length was promised, only a broken connection can say that it is not all.
  if (error !== undefined && reply.contentLength !== undefined) return void response.destroy()
  if (trailing) response.addTrailers(pairsOf(trailers(charge)))
  response.end(last)
}

const streamHeaders = (spend: Spend, reply: StreamedReply, trailing: boolean): HeaderList => [
  ...ceilingHeaders(spend.estimate(), spend),
  ...(trailing ? ['Trailer', TRAILERS] : []),
  'Content-Type',
  reply.contentType,
  ...(reply.contentLength === undefined
    ? ['Cache-Control', 'no-cache']
    : ['Content-Length', String(reply.contentLength)]),
]

/** True when the next chunk may follow at once. A pooled buffer is returned when the kernel has its bytes. */
function write(response: Exchange['response'], chunk: string | Uint8Array): boolean {
  if (!isLent(chunk)) return response.write(chunk)
  return response.write(chunk, (error) => {
    if (!error) giveBack(chunk)
  })
}

/** The reply's own headers, then ours. */
function writeHead(
  { response, answered, protocolHeaders, limitHeaders }: Exchange,
  { status, headers = {} }: { readonly status: number; readonly headers?: ReplyHeaders },
  list: HeaderList,
): void {
  answered.headMs = performance.now()
  const own = Object.entries(headers).flat()
  const fixed = ['x-api-preview', 'true', 'X-Content-Type-Options', 'nosniff']
  response.writeHead(status, [...own, ...list, ...limitHeaders, ...protocolHeaders, ...fixed])
}

/** A refusal on a bare socket, where no response object exists (the parser's own errors). */
export function rawRefusal(refusal: {
  status: number
  reason: string
  charge: Charge
  rendered: RenderedError
  requestId: string
  protocolHeaders: HeaderList
}): string {
  const { status, reason, charge, rendered, requestId, protocolHeaders } = refusal
  const headers = [
    ...pairsOf([...finalHeaders(charge, requestId), ...protocolHeaders]),
    ['Content-Type', rendered.contentType],
    ['Content-Length', String(Buffer.byteLength(rendered.body))],
    ['X-Content-Type-Options', 'nosniff'],
    ['Connection', 'close'],
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${rendered.body}`
}
