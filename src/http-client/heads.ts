// The heads of HTTP/1.1 to and from a server, in the form of RFC 9112 alone: no folded lines, no line that ends otherwise
// than in CRLF, no control characters. Another form is neither sent nor read.

/** RFC 9110, 5.6.2. */
export const TOKEN = String.raw`[!#$%&'*+\-.^_|~\x600-9A-Za-z]+`
const LINES = String.raw`(?:${TOKEN}:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n`
const REQUEST = new RegExp(String.raw`^[A-Z-]+ [\x21-\x7e]+ HTTP/1\.1\r\n${LINES}$`)
const ANSWER = new RegExp(String.raw`^HTTP/1\.[01] \d{3}(?: [\t\x20-\x7e\x80-\xff]*)?\r\n${LINES}$`)
const TRAILERS = new RegExp(`^${LINES}$`)
/** In a part of the head it would begin a further line, of the right form. */
const CR = '\r'
const LENGTH = /^\d{1,15}$/
const KEPT = /(?:^|,)[ \t]*timeout=(\d{1,6})[ \t]*(?:,|$)/i
const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
/** Where a body ends is written here alone: the server would read the rest as another request. */
const FRAMING = new Set(['content-length', 'transfer-encoding'])
/** Requests of these methods say also that they have no body: a server may ask for the length (RFC 9110, 8.6). */
const OF_BODIES = new Set(['POST', 'PUT', 'PATCH'])
/** Those below are followed by another head. */
export const FINAL_MIN = 200
const STATUS_AT = 9
const MINOR_AT = 7

export type RequestHead = {
  readonly method: string
  readonly path: string
  /** Name and value in turn; without those of the connection, and of the length of the body. */
  readonly headers: readonly string[]
  readonly isUpgrade: boolean
  /** A body of an unknown length goes in chunks. */
  readonly body: { readonly length: number | undefined } | undefined
}

export type HttpHead = {
  readonly status: number
  /** Name in lower case and value in turn, as they came. */
  readonly headers: readonly string[]
  /** Undefined: it is not told. */
  readonly length: number | undefined
  readonly isChunked: boolean
  /** The connection ends with the answer. */
  readonly isLast: boolean
  /** The time for which the server keeps an unused connection; undefined where the server does not say. */
  readonly keptMs: number | undefined
}

/** An answer, or a request to be, that is not of HTTP/1.1. */
export class NotHttp extends Error {}

/** Throws NotHttp. */
export function requestText({ method, path, headers, body, isUpgrade }: RequestHead): string {
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const value = headers[i + 1] ?? ''
    if (FRAMING.has(name)) throw new NotHttp('The request tells the end of its body twice')
    if (name.includes(CR) || value.includes(CR)) throw wrongCharacters()
    text += `${name}: ${value}\r\n`
  }
  text += framingOf(method, body)
  if (isUpgrade) text += 'connection: upgrade\r\nupgrade: websocket\r\n'
  text += '\r\n'
  if (path.includes(CR) || !REQUEST.test(text)) throw wrongCharacters()
  return text
}

const wrongCharacters = () => new NotHttp('The request has characters that HTTP/1.1 has not')

function framingOf(method: string, body: RequestHead['body']): string {
  if (body === undefined) return OF_BODIES.has(method) ? 'content-length: 0\r\n' : ''
  const { length } = body
  return length === undefined ? 'transfer-encoding: chunked\r\n' : `content-length: ${length}\r\n`
}

/** Reads a head up to its empty line. Throws NotHttp. */
export function readAnswerHead(text: string): HttpHead {
  if (!ANSWER.test(text))
    throw new NotHttp('The head is not one of HTTP/1.1, where each line ends in CRLF')
  const headers = pairsOf(text, text.indexOf('\r\n') + 2)
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3))
  const isOld = text.charCodeAt(MINOR_AT) === 0x30
  let length: number | undefined
  let isChunked = false
  let isLast = isOld
  let keptMs: number | undefined
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const value = headers[i + 1] ?? ''
    switch (headers[i]) {
      case 'content-length':
        if (length !== undefined || !LENGTH.test(value)) throw new NotHttp('No length of a body')
        length = Number(value)
        break
      case 'transfer-encoding':
        if (isChunked || value.toLowerCase() !== 'chunked') throw new NotHttp('No known encoding')
        isChunked = true
        break
      case 'connection':
        isLast ||= CLOSE.test(value)
        break
      case 'keep-alive':
        keptMs = keptMsOf(value)
        break
      default:
    }
  }
  // Two readers could take different ends for the right one (RFC 9112, 6.1).
  if (isChunked && length !== undefined) throw new NotHttp('A length, and chunks')
  if (isOld && (isChunked || status < FINAL_MIN)) throw new NotHttp('Not of HTTP/1.0')
  return { status, headers, length, isChunked, isLast, keptMs }
}

/** Servers that keep connections mostly say so in the same words. */
function keptMsOf(value: string): number | undefined {
  const seconds = KEPT.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** The first value of a header; its name is in lower case. */
export function valueOf(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]
  return undefined
}

/** Reads trailers up to their empty line. Throws NotHttp. */
export function readTrailers(text: string): string[] {
  if (!TRAILERS.test(text)) throw new NotHttp('The trailers are not those of HTTP/1.1')
  return pairsOf(text, 0)
}

/** Of lines that have their form. */
function pairsOf(text: string, begin: number): string[] {
  const pairs: string[] = []
  for (let at = begin; ;) {
    const end = text.indexOf('\r\n', at)
    if (end <= at) return pairs
    const colon = text.indexOf(':', at)
    let from = colon + 1
    let to = end
    while (from < to && isBlank(text.charCodeAt(from))) from++
    while (to > from && isBlank(text.charCodeAt(to - 1))) to--
    pairs.push(text.slice(at, colon).toLowerCase(), text.slice(from, to))
    at = end + 2
  }
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
