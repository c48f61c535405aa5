// One POST over undici's dispatch, as a head and steps of body bytes with back-pressure. No
// fetch: its web-stream layer costs more CPU than the rest of the gateway (0.64x against 1x a request).
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { ErgonError } from '#base/errors.ts'
import { Steps } from '#base/steps.ts'
import { fault, isServiceFault } from '#contract/errors.ts'

export type UpstreamRequest = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly headersMs: number
  readonly idleMs: number
  /** Called when the server is there and is sent the request. */
  readonly sent?: () => void
  /**
   * Tells the server that its caller has left. The answer is then read to its end, within the timeouts, as the
   * server says there what the caller used. The signal is aborted once the answer is over. Where the promise rejects
   * before that, or there is no such function, the connection is closed at once.
   */
  readonly leave?: (over: AbortSignal) => Promise<void>
}

export type UpstreamReply = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /**
   * Each step has the bytes since the last one. Disposing of it early closes the connection, which stops the
   * upstream's work.
   */
  readonly body: Steps<Buffer>
  /**
   * The answer is whole. The rest of the body is read for a short time, and a failure of the connection counts as its
   * end: neither changes the answer.
   */
  last(): void
  /** The answer is whole: what still comes is thrown away, so that the connection can serve again. */
  release(): void
}

/** Longest time from the last piece of an answer, or from its `done`, to the end of the body. */
const RELEASE_MS = 1_000
/** Bytes that wait in memory before reading from the upstream pauses. */
const QUEUED_BYTES_MAX = 64 * 1024

/**
 * Sends and resolves with the head. Rejects with `upstream_failed` or `upstream_timeout` (the cause
 * has undici's code), or with the signal's reason.
 */
export function send(
  dispatcher: Dispatcher,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  signal.throwIfAborted()
  const exchange = new UpstreamExchange(request, signal)
  dispatcher.dispatch(
    {
      method: 'POST',
      path: request.path,
      headers: request.headers,
      body: request.body,
      headersTimeout: request.headersMs,
      bodyTimeout: request.idleMs,
    },
    exchange,
  )
  return exchange.head.promise
}

const JSON_TYPE = 'application/json'
// abort() wants an error: nobody reads it.
const READER_LEFT = new TypeError('The reader has left')

class UpstreamExchange extends Steps<Buffer> implements Dispatcher.DispatchHandler {
  readonly head = Promise.withResolvers<UpstreamReply>()
  #reply: UpstreamReply | undefined
  readonly #request: UpstreamRequest
  readonly #signal: AbortSignal
  #controller: Dispatcher.DispatchController | undefined
  #queue: Buffer[] = []
  #queuedBytes = 0
  #ended = false
  #failure: { readonly error: unknown } | undefined
  /** Aborted once the answer that a caller has left is over. */
  #over: AbortController | undefined
  #wake: (() => void) | undefined
  #last: NodeJS.Timeout | undefined
  #release: NodeJS.Timeout | undefined
  readonly #onAbort = () => this.#leave(this.#signal.reason)

  constructor(request: UpstreamRequest, signal: AbortSignal) {
    super()
    this.#request = request
    this.#signal = signal
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure !== undefined) return this.dispose()
    this.#request.sent?.()
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return
    this.#reply = {
      status,
      headers,
      body: this,
      last: () => void (this.#last ??= setTimeout(() => this.#end(), RELEASE_MS).unref()),
      release: () => this.#released(),
    }
    if (!String(headers['content-type']).startsWith(JSON_TYPE)) this.#answer()
  }

  /** JSON cannot be read before its end: its head waits for the body, so that no step of it is waited for. */
  #answer(): void {
    if (this.#reply !== undefined) this.head.resolve(this.#reply)
    this.#wake?.()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#release !== undefined) return
    this.#queue.push(chunk)
    this.#queuedBytes += chunk.length
    if (this.#queuedBytes > QUEUED_BYTES_MAX) {
      controller.pause()
      this.#answer()
    } else this.#wake?.()
  }

  onResponseEnd(): void {
    this.#ended = true
    this.#over?.abort()
    clearTimeout(this.#last)
    clearTimeout(this.#release)
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#answer()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(upstreamFault(error))
  }

  /** An end by the service itself is charged to no account: it does not wait for the figures. */
  #leave(reason: unknown): void {
    const { leave } = this.#request
    if (leave === undefined || this.#controller === undefined || isServiceFault(reason))
      return this.#fail(reason)
    const over = new AbortController()
    this.#over = over
    leave(over.signal).catch(() => over.signal.aborted || this.#fail(reason))
  }

  /** Ends the body here, whatever the upstream would go on to say. */
  #end(): void {
    if (this.#ended || this.#failure !== undefined) return
    this.onResponseEnd()
    this.#controller?.abort(READER_LEFT)
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return
    if (this.#last !== undefined) return this.#end()
    this.#failure = { error }
    this.#over?.abort()
    clearTimeout(this.#release)
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#answer()
    this.head.reject(error)
    this.dispose()
  }

  dispose(): void {
    this.#signal.removeEventListener('abort', this.#onAbort)
    if (this.#ended || this.#release !== undefined) return
    this.#controller?.abort(READER_LEFT)
  }

  #released(): void {
    if (this.#ended || this.#failure !== undefined) return
    this.#queue = []
    this.#release = setTimeout(() => {
      this.#release = undefined
      this.dispose()
    }, RELEASE_MS).unref()
    this.#controller?.resume()
  }

  /** All that has come: the chunks of one read are one step, not one each (13 in a short answer). */
  #take(): Buffer {
    const chunks = this.#queue
    const isPaused = this.#queuedBytes > QUEUED_BYTES_MAX
    this.#queue = []
    this.#queuedBytes = 0
    if (isPaused) this.#controller?.resume()
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  }

  next(): Buffer | undefined | Promise<Buffer | undefined> {
    if (this.#queue.length > 0) return this.#take()
    if (this.#failure === undefined && !this.#ended)
      return new Promise<void>((resolve) => (this.#wake = resolve)).then(() => this.next())
    this.dispose()
    if (this.#failure !== undefined) throw this.#failure.error
    return undefined
  }
}

/** The message for callers; the log has the code. */
const TIMEOUTS: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_TIMEOUT: 'its answer did not begin',
  UND_ERR_BODY_TIMEOUT: 'it fell silent in the middle of its answer',
}
const UNREACHED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])
const RESET = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

const codeOf = (error: unknown): string =>
  error instanceof Error ? String(('code' in error && error.code) || error.name) : 'unknown'

function upstreamFault(cause: Error): ErgonError {
  const code = codeOf(cause)
  const late = TIMEOUTS[code]
  if (late !== undefined)
    return fault('upstream_timeout', `Could not wait for the upstream any longer: ${late}`, {
      cause,
    })
  return fault('upstream_failed', `Could not read the upstream: ${wordsOf(code)}`, { cause })
}

function wordsOf(code: string): string {
  if (UNREACHED.has(code)) return 'it could not be reached'
  if (RESET.has(code)) return 'it closed the connection'
  // undici's parser has no code for most that it refuses.
  return /^HPE_|^HTTPParserError$/.test(code) ? 'what it sent is not HTTP' : 'the connection failed'
}

/**
 * Progress of a failed send(). `unreached`: the server never read the request. `reset`: the connection was too old, or
 * the server died of the request. undefined: the server answered, or the wait ended.
 */
export function missed(error: unknown): 'unreached' | 'reset' | undefined {
  const code = error instanceof Error ? codeOf(error.cause) : ''
  if (UNREACHED.has(code)) return 'unreached'
  return RESET.has(code) ? 'reset' : undefined
}

/** The whole body as text. Throws `upstream_failed` beyond the bound. */
export async function readText(reply: UpstreamReply, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of reply.body) {
    bytes += chunk.length
    if (bytes > bytesMax)
      throw fault('upstream_failed', `Could not read the upstream: body over ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
