// Reads a JSON body: counted, timed, strict UTF-8, bounded depth.
import { createHash } from 'node:crypto'
import { fault } from '#contract/errors.ts'
import type { Exchange } from './exchange.ts'
import {
  BODY_TIMEOUT_MS,
  DISCARD_BYTES_MAX,
  DISCARD_MS_MAX,
  JSON_BODY_BYTES_MAX,
  JSON_DEPTH_MAX,
  PIECE_BYTES_MIN,
  PIECES_BYTES_FREE,
} from './limits.ts'
import { malformed } from './request-form.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Throws what readBody does, invalid_json, unsupported_media_type, or the exchange's own end. */
export async function readJson(exchange: Exchange): Promise<unknown> {
  const type = exchange.header('content-type')
  if (type !== undefined && !/^application\/([a-z0-9.+-]*\+)?json *(;|$)/i.test(type))
    throw fault(
      'unsupported_media_type',
      `Could not read the body: its type is "${type.slice(0, 100)}"`,
    )
  const coding = exchange.header('content-encoding')
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    throw fault(
      'unsupported_media_type',
      `Could not read the body: it is coded as "${coding.slice(0, 100)}"`,
    )
  const bytes = await readBody(exchange, JSON_BODY_BYTES_MAX)
  if (exchange.header('idempotency-key') !== undefined)
    exchange.bodyHash = createHash('sha256').update(bytes).digest()
  return parseJson(bytes)
}

/** Parses strict JSON text of bounded depth. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw fault('invalid_json', 'Could not read the body: it is empty')
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (cause) {
    throw fault('invalid_json', 'Could not read the body: it is not UTF-8', { cause })
  }
  if (depthOf(text) > JSON_DEPTH_MAX)
    throw fault(
      'invalid_json',
      `Could not read the body: it is nested deeper than ${JSON_DEPTH_MAX}`,
    )
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw fault('invalid_json', `Could not read the body: ${describe(cause)}`, { cause })
  }
}

/**
 * All the bytes of a body of at most `limitBytes`; sends 100 Continue first when the client waits for it.
 * Throws body_too_large, the refusal of a smaller limit of the exchange, request_timeout, malformed_request (in pieces of few bytes), overloaded when the
 * bodies of all requests leave no room for it.
 */
export async function readBody(exchange: Exchange, limitBytes: number): Promise<Uint8Array> {
  const { request, response, signal, bodyLimit } = exchange
  const limit = Math.min(limitBytes, bodyLimit?.bytes ?? limitBytes)
  const beyond = () => bodyLimit?.refusal ?? tooLarge(limit)
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limit) throw beyond()
  if (request.headers.expect !== undefined) response.writeContinue()
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const late = setTimeout(() => fail(tooSlow()), BODY_TIMEOUT_MS)
    const stop = () => {
      clearTimeout(late)
      request.off('data', onData)
      signal.removeEventListener('abort', onAbort)
    }
    const fail = (reason: unknown) => {
      stop()
      reject(reason)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      const isCrumbled = size > PIECES_BYTES_FREE && size < chunks.length * PIECE_BYTES_MIN
      if (size > limit) fail(beyond())
      else if (isCrumbled) fail(crumbled())
      else if (!exchange.hold(chunk.length)) fail(noRoom())
    }
    const onAbort = () => fail(signal.reason)
    // A request ends once and fails once: `on` has no wrapper for each, as `once` has.
    request.on('data', onData)
    request.on('end', () => {
      stop()
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
    })
    request.on('error', (cause) =>
      fail(fault('client_closed', 'The client closed the connection', { cause })),
    )
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
}

// One of each for all requests: as functions within a request they are memory of each.
const tooLarge = (limit: number) =>
  fault('body_too_large', `Could not read the body: more than ${limit} bytes`)
const tooSlow = () =>
  fault('request_timeout', `Could not read the body in ${BODY_TIMEOUT_MS / 1000} s`)
const noRoom = () =>
  fault('overloaded', 'Could not read the body: too many large bodies are being read', {
    retryAfterS: 1,
  })
const crumbled = () => malformed(`its body comes in pieces of less than ${PIECE_BYTES_MIN} bytes`)

/**
 * Lets what is still coming of a body that nobody reads go by, so that its sender sees the answer and
 * not a reset (RFC 9112 §9.6); past a limit the connection ends.
 */
export function discardBody({ request }: Exchange): void {
  const { headers } = request
  const expected = 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
  if (request.complete || request.destroyed || !expected) return
  let leftBytes = DISCARD_BYTES_MAX
  const late = setTimeout(() => request.destroy(), DISCARD_MS_MAX)
  const done = () => clearTimeout(late)
  request.once('end', done).once('close', done)
  request.on('data', (chunk: Buffer) => {
    leftBytes -= Math.max(chunk.length, PIECE_BYTES_MIN)
    if (leftBytes < 0) request.destroy()
  })
}

/** Nesting of a JSON text, counted without parsing: brackets inside strings do not count. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) {
      i = endOfString(text, i)
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > deepest) deepest = depth
    } else if (code === 0x7d || code === 0x5d) {
      depth--
    }
  }
  return deepest
}

function endOfString(text: string, start: number): number {
  let at = start
  do {
    at = text.indexOf('"', at + 1)
    if (at < 0) return text.length
  } while (escaped(text, at))
  return at
}

function escaped(text: string, at: number): boolean {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
  return slashes % 2 === 1
}

const describe = (cause: unknown) =>
  cause instanceof SyntaxError ? cause.message.slice(0, 200) : 'not JSON'
