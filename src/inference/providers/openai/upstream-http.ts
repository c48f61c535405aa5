// One request to an upstream, as a head and steps of body bytes with back-pressure. Connections and the reader of answers
// are those of the ingress (docs/performance.md has the figures of both clients).
import type { Duplex } from 'node:stream'
import type { ErgonError } from '#base/errors.ts'
import { Steps } from '#base/steps.ts'
import { fault, isServiceFault } from '#contract/errors.ts'
import { NotHttp, valueOf, type HttpHead } from '#http-client/heads.ts'
import type { AnswerTaker, HttpConnection } from '#http-client/http-connection.ts'
import type { KeptConnections } from '#http-client/kept-connections.ts'
import { NotAnswered, Overdue } from '#http-client/not-answered.ts'

export type UpstreamConnections = Pick<KeptConnections, 'ask'>

export type UpstreamRequest = {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  /** Name in lower case and value in turn. */
  readonly headers: readonly string[]
  readonly body?: string
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
  /** The first value of a header, whose name is in lower case. */
  header(name: string): string | undefined
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
 * Sends and resolves with the head. Rejects with `upstream_failed` or `upstream_timeout` (the cause is the failure of the
 * connection), or with the signal's reason.
 */
export function send(
  connections: UpstreamConnections,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  signal.throwIfAborted()
  const exchange = new UpstreamExchange(request, signal)
  exchange.begin(connections)
  return exchange.answered.promise
}

const JSON_TYPE = 'application/json'

class UpstreamExchange extends Steps<Buffer> implements AnswerTaker {
  readonly answered = Promise.withResolvers<UpstreamReply>()
  #reply: UpstreamReply | undefined
  readonly #request: UpstreamRequest
  readonly #signal: AbortSignal
  #connection: HttpConnection | undefined
  #isAsked = false
  /** Pieces of the present read: views of memory that other connections use later. */
  #pieces: Buffer[] = []
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

  begin(connections: UpstreamConnections): void {
    const { method, path, headers, body } = this.#request
    const text = body === undefined ? undefined : { length: Buffer.byteLength(body), text: body }
    try {
      const sent = { method, path, headers, isUpgrade: false, body: text }
      this.#connection = connections.ask(sent, this)
    } catch (error) {
      if (error instanceof NotHttp) this.#fail(unsendable(error))
      else this.failed(error as Error)
    }
  }

  asked(): void {
    this.#isAsked = true
    this.#request.sent?.()
  }

  interim(): void {
    // 100 and 103 say nothing of the answer.
  }

  /** Not asked for. */
  switched(_head: HttpHead, socket: Duplex): void {
    socket.destroy()
    this.failed(new NotHttp('Another protocol'))
  }

  head({ status, headers }: HttpHead): void {
    this.#reply = {
      status,
      header: (name) => valueOf(headers, name),
      body: this,
      last: () => void (this.#last ??= setTimeout(() => this.#end(), RELEASE_MS).unref()),
      release: () => this.#released(),
    }
    if (valueOf(headers, 'content-type')?.startsWith(JSON_TYPE) !== true) this.#answer()
  }

  /** JSON cannot be read before its end: its head waits for the body, so that no step of it is waited for. */
  #answer(): void {
    if (this.#reply !== undefined) this.answered.resolve(this.#reply)
    this.#wake?.()
  }

  piece(bytes: Buffer): void {
    if (this.#release === undefined) this.#pieces.push(bytes)
  }

  waits(): boolean {
    this.#keep()
    if (this.#queuedBytes > QUEUED_BYTES_MAX) {
      this.#answer()
      return false
    }
    if (this.#queuedBytes > 0) this.#wake?.()
    return true
  }

  end(): void {
    this.#keep()
    this.#finish()
  }

  failed(error: Error): void {
    this.#fail(upstreamFault(error))
  }

  /** Copies what one read has brought. */
  #keep(): void {
    const pieces = this.#pieces
    const [first] = pieces
    if (first === undefined) return
    this.#pieces = []
    const kept = pieces.length === 1 ? Buffer.from(first) : Buffer.concat(pieces)
    this.#queue.push(kept)
    this.#queuedBytes += kept.length
  }

  #finish(): void {
    this.#ended = true
    this.#over?.abort()
    clearTimeout(this.#last)
    clearTimeout(this.#release)
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#answer()
  }

  /** An end by the service itself is charged to no account: it does not wait for the figures. */
  #leave(reason: unknown): void {
    const { leave } = this.#request
    if (leave === undefined || !this.#isAsked || isServiceFault(reason)) return this.#fail(reason)
    const over = new AbortController()
    this.#over = over
    leave(over.signal).catch(() => over.signal.aborted || this.#fail(reason))
  }

  /** Ends the body here, whatever the upstream would go on to say. */
  #end(): void {
    if (this.#ended || this.#failure !== undefined) return
    this.#finish()
    this.#connection?.destroy()
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return
    if (this.#last !== undefined) return this.#end()
    this.#failure = { error }
    this.#over?.abort()
    clearTimeout(this.#release)
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#answer()
    this.answered.reject(error)
    this.dispose()
  }

  dispose(): void {
    this.#signal.removeEventListener('abort', this.#onAbort)
    if (this.#ended || this.#release !== undefined) return
    this.#connection?.destroy()
  }

  #released(): void {
    if (this.#ended || this.#failure !== undefined) return
    this.#queue = []
    this.#release = setTimeout(() => {
      this.#release = undefined
      this.dispose()
    }, RELEASE_MS).unref()
    this.#readOn()
  }

  #readOn(): void {
    const isPaused = this.#queuedBytes > QUEUED_BYTES_MAX
    this.#queuedBytes = 0
    if (isPaused && !this.#ended) this.#connection?.resume()
  }

  /** All that has come. */
  #take(): Buffer {
    const chunks = this.#queue
    this.#queue = []
    this.#readOn()
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

/** A request that cannot be sent because of its address or its key: all else of a request is ours. */
const unsendable = (cause: Error): ErgonError =>
  fault('upstream_failed', `Could not ask the upstream: ${cause.message}`, { cause })

/** The message for callers; the log has the cause. */
function upstreamFault(cause: Error): ErgonError {
  const late = cause instanceof Overdue ? LATE_WORDS[cause.awaited] : undefined
  if (late !== undefined)
    return fault('upstream_timeout', `Could not wait for the upstream any longer: ${late}`, {
      cause,
    })
  return fault('upstream_failed', `Could not read the upstream: ${wordsOf(cause)}`, { cause })
}

const LATE_WORDS: Readonly<Record<Overdue['awaited'], string | undefined>> = {
  connection: undefined,
  head: 'its answer did not begin',
  body: 'it fell silent in the middle of its answer',
}

function wordsOf(cause: Error): string {
  if (cause instanceof Overdue) return 'it could not be reached'
  if (cause instanceof NotAnswered)
    return cause.isReset ? 'it closed the connection' : 'it could not be reached'
  return cause instanceof NotHttp ? 'what it sent is not HTTP' : 'the connection failed'
}

/**
 * Progress of a failed send(). `unreached`: the server never read the request. `reset`: the connection was too old, or
 * the server died of the request. undefined: the server has begun to answer, or the wait ended.
 */
export function missed(error: unknown): 'unreached' | 'reset' | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Overdue) return cause.awaited === 'connection' ? 'unreached' : undefined
  if (!(cause instanceof NotAnswered) || cause.hasBegun) return undefined
  return cause.isReset ? 'reset' : 'unreached'
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
