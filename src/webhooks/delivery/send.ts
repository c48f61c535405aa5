// One attempt: a POST and its outcome. The status decides once the head of the answer is there; the body is read for
// the log and to keep the connection, up to a limit. Redirects are failures.
import type { IncomingMessage } from 'node:http'
import { limitInterim } from '#base/limit-interim.ts'
import { request as httpRequest } from '#base/node-http.ts'
import type { CheckedConnections, CheckedRequest } from '#egress/connections.ts'
import { failureWords } from '#egress/failure-words.ts'
import type { EndpointTarget } from './target.ts'

export const ATTEMPT_MS = 15_000
/** A longer answer ends its connection. */
const ANSWER_BYTES_MAX = 64 * 1024
const LOGGED_BYTES = 1024
const RETRY_AFTER_MS_MAX = 24 * 3_600_000

export type Attempt = {
  readonly target: EndpointTarget
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Called after each piece of work. */
  readonly mark: () => void
  /** Default ATTEMPT_MS. */
  readonly limitMs?: number
}

export type Outcome = {
  readonly isDelivered: boolean
  readonly status: number | null
  readonly error: string | null
  readonly tookMs: number
  readonly answer: string | null
  /** The rest that the endpoint asked for. */
  readonly restMs: number | null
}

export interface DeliverySender {
  /** Resolves with the outcome; never rejects. */
  send(attempt: Attempt): Promise<Outcome>
  /** Ends the attempts under way. */
  close(): void
}

export const createDeliverySender = (connections: CheckedConnections): DeliverySender => ({
  send: (attempt) => sendAttempt(connections, attempt),
  close: connections.close,
})

async function sendAttempt(connections: CheckedConnections, attempt: Attempt): Promise<Outcome> {
  const beganMs = performance.now()
  const first = await exchange(connections, attempt)
  // The endpoint closed a kept connection when the request was on its way: no attempt of its own.
  const { status, error, answer, restMs } = first.isStale
    ? await exchange(connections, attempt)
    : first
  const isDelivered = status !== null && status >= 200 && status < 300
  return {
    isDelivered,
    status,
    error: isDelivered ? null : wordsOf(status, error),
    tookMs: Math.round(performance.now() - beganMs),
    answer,
    restMs,
  }
}

type HttpAttempt = {
  status: number | null
  error: Error | undefined
  answer: string | null
  restMs: number | null
  isStale: boolean
}

function exchange(connections: CheckedConnections, attempt: Attempt): Promise<HttpAttempt> {
  const { target, headers, body, mark, limitMs = ATTEMPT_MS } = attempt
  return new Promise((resolve) => {
    const found: HttpAttempt = {
      status: null,
      error: undefined,
      answer: null,
      restMs: null,
      isStale: false,
    }
    const ending = new AbortController()
    const options: CheckedRequest = {
      ending: ending.signal,
      agent: connections.agentFor(target),
      method: 'POST',
      host: target.hostname,
      port: target.port,
      path: target.path,
      headers: { host: target.host, ...headers, 'content-length': body.length },
    }
    const request = httpRequest(options)
    const end = () => {
      clearTimeout(timer)
      mark()
      resolve(found)
    }
    const timer = setTimeout(() => {
      found.error = new TimedOut()
      request.destroy(found.error)
      ending.abort()
      // A request that has no connection yet closes once that is there.
      end()
    }, limitMs)
    request.on('response', (response) => {
      found.status = response.statusCode ?? null
      found.restMs = restOf(response)
      readLogged(response, mark, (answer) => (found.answer = answer))
    })
    request.on('information', mark)
    limitInterim(request)
    // Where nothing listens, Node ends the connection and tells no error.
    request.on('upgrade', ({ statusCode }, socket) => {
      found.status = statusCode ?? null
      socket.destroy()
      end()
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      found.error ??= error
      found.isStale = request.reusedSocket && found.status === null && !(error instanceof TimedOut)
    })
    request.on('close', end)
    request.end(body)
    mark()
  })
}

class TimedOut extends Error {}

/** Reads an answer up to the limits; a longer one is cut. */
function readLogged(
  response: IncomingMessage,
  mark: () => void,
  logged: (answer: string) => void,
): void {
  const kept: Buffer[] = []
  let bytes = 0
  response.on('data', (piece: Buffer) => {
    if (bytes < LOGGED_BYTES) {
      kept.push(piece.subarray(0, LOGGED_BYTES - bytes))
      logged(textOf(Buffer.concat(kept)))
    }
    bytes += piece.length
    if (bytes > ANSWER_BYTES_MAX) response.destroy()
    mark()
  })
  // An answer that breaks off has a status already.
  response.on('error', () => undefined)
}

/** PostgreSQL has no NUL in texts. */
const textOf = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\0', '\uFFFD')

/** The wait that a 429 or a 503 asks for: seconds, or a date (RFC 9110 §10.2.3). */
function restOf({ statusCode, headers }: IncomingMessage): number | null {
  const text = headers['retry-after']
  if (text === undefined || (statusCode !== 429 && statusCode !== 503)) return null
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return ms > 0 ? Math.min(ms, RETRY_AFTER_MS_MAX) : null
}

function wordsOf(status: number | null, error: Error | undefined): string {
  if (error instanceof TimedOut && status === null) return `no answer within ${ATTEMPT_MS / 1000} s`
  if (status !== null)
    return status >= 300 && status < 400
      ? `it answered ${status}: redirects are not followed`
      : `it answered ${status}`
  return failureWords(error)
}
