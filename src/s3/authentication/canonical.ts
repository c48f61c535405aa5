// The canonical request of signature version 4, from the received bytes and never from parsed values (AWS, "Create a
// signed AWS API request", step 1; S3 neither folds nor double-encodes the path).
import { rawPairs } from '#s3/target.ts'

export type SignedRequest = {
  readonly method: string
  readonly rawPath: string
  readonly rawQuery: string
  /** Names and values in turn, as node:http gives them. */
  readonly rawHeaders: readonly string[]
}

/**
 * The canonical request. `signedHeaders` in lower case, `values` of headerValues, `payload` the text of
 * its last line. The result has one character a byte: hash it as latin1.
 */
export function canonicalRequest(
  request: SignedRequest,
  signedHeaders: readonly string[],
  values: ReadonlyMap<string, string>,
  payload: string,
): string {
  const names = signedHeaders.toSorted()
  const lines = names.map((name) => `${name}:${values.get(name) ?? ''}\n`).join('')
  const query = canonicalQuery(request.rawQuery)
  const path = canonicalPath(request.rawPath)
  return `${request.method}\n${path}\n${query}\n${lines}\n${names.join(';')}\n${payload}`
}

/** Values by lower-case name: repeated ones joined by a comma, runs of white space made one space. */
export function headerValues(rawHeaders: readonly string[]): Map<string, string> {
  const values = new Map<string, string>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    const text = (rawHeaders[at + 1] ?? '').trim()
    const value = SPACES.test(text) ? text.replaceAll(/\s+/g, ' ') : text
    const earlier = values.get(name)
    values.set(name, earlier === undefined ? value : `${earlier},${value}`)
  }
  return values
}

const SPACES = /\s\s|[\t\r\n]/
const UNRESERVED = /^[A-Za-z0-9._~-]*$/
const PATH_AS_IS = /^[A-Za-z0-9._~/-]*$/

function canonicalPath(rawPath: string): string {
  return PATH_AS_IS.test(rawPath) ? rawPath : rawPath.replace(ESCAPE_IN_PATH, canonicalEscape)
}

/** Sorted by encoded name, then encoded value; the signature itself is not part of it. */
function canonicalQuery(rawQuery: string): string {
  if (rawQuery === '') return ''
  return rawPairs(rawQuery)
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .filter(([name]) => name !== 'X-Amz-Signature')
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const encoded = (text: string): string =>
  UNRESERVED.test(text) ? text : text.replace(ESCAPE, canonicalEscape)

const ESCAPE = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~-]/g
const ESCAPE_IN_PATH = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~/-]/g

/** An escape, or a character that needs one, in AWS's form: upper case, unreserved bytes bare. */
function canonicalEscape(found: string): string {
  const byte = found.length === 3 ? Number.parseInt(found.slice(1), 16) : found.charCodeAt(0)
  const character = String.fromCharCode(byte)
  if (byte < 128 && UNRESERVED.test(character)) return character
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}
