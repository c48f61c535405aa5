// One request to a running instance, and its answer: both are streamed, and neither side sees the other's headers of this
// connection. The figure of energy is of the runtime's own count of its CPU: a readout, which no bill is made of.
import { lstatSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { carbonOf, nj, printJoules, printMilligrams } from '#base/units.ts'
import { ErgonError } from '#base/errors.ts'
import { request as ask } from '#base/node-http.ts'
import type { Tariff } from '#charging/tariff.ts'
import { fault } from '#contract/errors.ts'
import { kindRules, type RoutedKind } from './kinds.ts'
import { socketPathOf } from './uses.ts'

export type ForwardedRequest = {
  readonly requestId: string
  readonly address: string
  readonly kind: RoutedKind
  /** As the resource sees it. */
  readonly path: string
  readonly url: string
  readonly prefix: string
  readonly tariff: Tariff | undefined
  readonly signal: AbortSignal
}

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** Headers of the service, and those that bind a client to an address that others have too. */
const OURS =
  /^(x-(ergon|energy|workload)-.*|x-(carbon-mg|receipt-id|routed-to|tier)|strict-transport-security|alt-svc|clear-site-data)$/i
const CPU_HEADER = 'x-ergon-cpu-us'
const SWITCHING_PROTOCOLS = 101
const STATUS_MIN = 200
const STATUS_MAX = 599
/** No body follows them (RFC 9110, 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304])
/** Nobody listens there: the process has just ended, or another version follows. */
const GONE = new Set(['ECONNREFUSED', 'ENOENT'])
const RESET = new Set(['ECONNRESET', 'EPIPE'])

/** It has not answered. `isReset`: it may have begun, which does not matter for a GET (RFC 9110, 9.2.2). */
export class NotAnswered extends Error {
  readonly isReset: boolean
  constructor(isReset: boolean) {
    super('the process has ended')
    this.isReset = isReset
  }
}

/** Resolves when the answer has gone out. Rejects with a fault, or NotAnswered, while nothing of it has. */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  given: ForwardedRequest,
): Promise<void> {
  const answer = await send(request, given)
  const { headers, statusCode = 0 } = answer
  const isAnswer = statusCode >= STATUS_MIN && statusCode <= STATUS_MAX
  const { hasOurRuntime } = kindRules(given.kind)
  if ((hasOurRuntime && headers['x-ergon-failed'] !== undefined) || !isAnswer) {
    answer.on('error', () => undefined).destroy()
    throw failed(given)
  }
  await passOn(answer, response, given)
}

/** Also where its answer is not HTTP: what code sends is no fault of ours. */
const failed = ({ kind }: ForwardedRequest) =>
  fault(kindRules(kind).refusals.failed, `Could not answer: the ${kind} failed`)

/** Nothing of the body is read before the process has taken the connection. */
function send(request: IncomingMessage, given: ForwardedRequest): Promise<IncomingMessage> {
  const { bodyBytesMax } = kindRules(given.kind)
  return new Promise((resolve, reject) => {
    const socketPath = socketPathOf(given.address)
    // The folder is the code's own: a link there could name a socket that only the ingress may call.
    if (!lstatSync(socketPath, { throwIfNoEntry: false })?.isSocket())
      return reject(new NotAnswered(false))
    const sent = ask({
      socketPath,
      method: request.method,
      path: given.path,
      headers: headersTo(request, given),
      agent: false,
      signal: given.signal,
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const { code = '' } = error
      const isReset = RESET.has(code)
      if (given.signal.aborted) reject(given.signal.reason)
      else if (error instanceof ErgonError) reject(error)
      else reject(isReset || GONE.has(code) ? new NotAnswered(isReset) : failed(given))
    })
    sent.once('response', resolve)
    sent.once('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(failed(given))
    })
    sent.on('information', ({ statusCode }) => {
      if (statusCode === SWITCHING_PROTOCOLS) sent.destroy(failed(given))
    })
    sent.once('socket', (socket) =>
      socket.once('connect', () => {
        let bytes = 0
        request.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes <= bodyBytesMax) return
          const most = `${bodyBytesMax} bytes`
          sent.destroy(fault('body_too_large', `Could not take the body: the most is ${most}`))
        })
        request.pipe(sent)
      }),
    )
  })
}

function headersTo(
  { headers, socket }: IncomingMessage,
  given: ForwardedRequest,
): Record<string, string[] | string> {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !HOP_BY_HOP.has(name) && !name.startsWith('x-ergon-'),
  ) as [string, string | string[]][]
  const { cookie, ...rest } = Object.fromEntries(kept)
  const cookies = cookie === undefined ? undefined : withoutOurs(String(cookie))
  return {
    ...rest,
    ...(cookies && { cookie: cookies }),
    connection: 'close',
    // Of some methods Node frames no body by itself.
    ...(headers['transfer-encoding'] !== undefined && { 'transfer-encoding': 'chunked' }),
    'x-forwarded-for': [headers['x-forwarded-for'], socket.remoteAddress]
      .filter(Boolean)
      .join(', '),
    'x-request-id': given.requestId,
    ...(given.prefix !== '' && { 'x-forwarded-prefix': given.prefix }),
    ...(kindRules(given.kind).hasOurRuntime && toRuntime(given)),
  }
}

const toRuntime = ({ requestId, url, tariff }: ForwardedRequest) => ({
  'x-ergon-request-id': requestId,
  'x-ergon-url': url,
  'x-ergon-tariff': String(tariff?.njPerCpuS ?? 0n),
})

/** The portal's cookies are nobody else's. */
const withoutOurs = (cookie: string): string =>
  cookie
    .split(/; */)
    .filter((one) => !/^(__Host-)?ergon_/i.test(one))
    .join('; ')

function passOn(
  answer: IncomingMessage,
  response: ServerResponse,
  given: ForwardedRequest,
): Promise<void> {
  const { hasOurRuntime } = kindRules(given.kind)
  const known = hasOurRuntime ? answer.headers[CPU_HEADER] : undefined
  const isFollowed = hasOurRuntime && known === undefined && isChunked(answer, response)
  const added =
    known === undefined ? isFollowed && { trailer: TRAILERS } : energyHeaders(String(known), given)
  writeHead(answer, response, given, {
    ...headersOf(answer),
    ...added,
    'x-request-id': given.requestId,
    ...(given.tariff && { 'X-Routed-To': given.tariff.routedTo }),
  })
  return new Promise((resolve, reject) => {
    answer.on('error', () => reject(failed(given)))
    answer.once('end', () => {
      if (isFollowed) response.addTrailers(energyHeaders(answer.trailers[CPU_HEADER] ?? '', given))
    })
    response.once('close', () => {
      answer.destroy()
      resolve()
    })
    // Also where the client does not read.
    given.signal.addEventListener('abort', () => response.destroy(), { once: true })
    answer.pipe(response)
  })
}

/** True where the client gets chunks: trailers may follow those alone. */
const isChunked = ({ statusCode = 0, headers }: IncomingMessage, { req }: ServerResponse) =>
  req.method !== 'HEAD' &&
  req.httpVersion !== '1.0' &&
  !BODILESS.has(statusCode) &&
  headers['content-length'] === undefined

function headersOf(answer: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined && !HOP_BY_HOP.has(name) && !OURS.test(name))
      headers[name] = name === 'set-cookie' ? ownCookies(value) : value
  return headers
}

function writeHead(
  answer: IncomingMessage,
  response: ServerResponse,
  given: ForwardedRequest,
  headers: Record<string, string | string[]>,
): void {
  try {
    response.writeHead(answer.statusCode ?? 0, headers)
  } catch {
    // A header that Node reads and does not write. Our refusal has a reason of its own.
    response.statusMessage = ''
    answer.on('error', () => undefined).destroy()
    throw failed(given)
  }
}

const ownCookies = (value: string | string[]): string[] =>
  [value].flat().filter((one) => !/^(__Host-)?ergon_/i.test(one))

const TRAILERS = 'X-Energy-Joules, X-Carbon-mg, X-Energy-Method, X-Energy-Estimate'
const US_PER_S = 1_000_000n

/** `share`: the request's part of its process, as that counted it. */
function energyHeaders(cpuUs: string, { tariff }: ForwardedRequest): Record<string, string> {
  if (tariff === undefined || !/^\d{1,12}$/.test(cpuUs)) return {}
  const energy = nj((BigInt(cpuUs) * tariff.njPerCpuS) / US_PER_S)
  return {
    'X-Energy-Joules': printJoules(energy),
    'X-Carbon-mg': printMilligrams(carbonOf(energy, BigInt(tariff.factor.mg_per_kwh))),
    'X-Energy-Method': `${tariff.method}; band=${tariff.bandPct}%`,
    'X-Energy-Estimate': 'share',
  }
}
