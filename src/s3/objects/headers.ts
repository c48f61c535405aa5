// The headers of a PUT that are stored with the object and returned by GET and HEAD.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { checkRedirectLocation } from '#s3/website/website-route.ts'
import type { Query } from '#s3/target.ts'
import { decodeWords, encodeWords } from './encoded-words.ts'

/** AWS: names and values of user metadata together. */
export const METADATA_BYTES_MAX = 2048
const VALUE_CHARACTERS_MAX = 8192
const PREFIX = 'x-amz-meta-'
/** RFC 9110 §5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]*$/

/** Values as received, one character for each byte; they are returned byte for byte. */
export type SystemHeaders = {
  readonly contentType: string
  readonly contentEncoding?: string
  readonly contentDisposition?: string
  readonly contentLanguage?: string
  readonly cacheControl?: string
  readonly expires?: string
  readonly websiteRedirect?: string
}

/** Names without `x-amz-meta-`, in lower case; values as text. */
export type UserMetadata = Readonly<Record<string, string>>

export type ObjectHeaders = { readonly system: SystemHeaders; readonly metadata: UserMetadata }

const DEFAULT_TYPE = 'binary/octet-stream'

const SYSTEM = [
  ['contentDisposition', 'content-disposition'],
  ['contentLanguage', 'content-language'],
  ['cacheControl', 'cache-control'],
  ['expires', 'expires'],
] as const

/**
 * The headers of a PUT, POST or copy that are stored. Throws InvalidArgument, MetadataTooLarge,
 * InvalidRedirectLocation.
 */
export function objectHeaders(headers: IncomingHttpHeaders): ObjectHeaders {
  const system: Record<string, string> = {
    contentType: plain(headers, 'content-type') || DEFAULT_TYPE,
  }
  for (const [field, name] of SYSTEM) {
    const value = plain(headers, name)
    if (value !== undefined) system[field] = value
  }
  const encoding = storedEncoding(plain(headers, 'content-encoding'))
  if (encoding !== undefined) system['contentEncoding'] = encoding
  const redirect = plain(headers, 'x-amz-website-redirect-location')
  if (redirect !== undefined) {
    checkRedirectLocation(redirect)
    system['websiteRedirect'] = redirect
  }
  return { system: system as SystemHeaders, metadata: userMetadata(headers) }
}

function plain(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return value === undefined ? undefined : checkValue(name, String(value))
}

// Node refuses to send such a header, so it would fail every later GET.
function checkValue(name: string, value: string): string {
  if (value.length > VALUE_CHARACTERS_MAX)
    throw storageFault(
      'InvalidArgument',
      `The value of ${name} has ${value.length} characters: the limit is ${VALUE_CHARACTERS_MAX}`,
      { ArgumentName: name },
    )
  if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
    throw storageFault('InvalidArgument', `The value of ${name} cannot be sent in a header`, {
      ArgumentName: name,
    })
  return value
}

/** Content-Encoding without `aws-chunked`, which describes the transfer and not the object. */
function storedEncoding(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const kept = value.split(',').map((part) => part.trim())
  const stored = kept.filter((part) => part !== '' && part.toLowerCase() !== 'aws-chunked')
  return stored.length === 0 ? undefined : stored.join(', ')
}

function userMetadata(headers: IncomingHttpHeaders): UserMetadata {
  const metadata: Record<string, string> = {}
  let bytes = 0
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(PREFIX) || value === undefined) continue
    const name = header.slice(PREFIX.length)
    // A form may have any field name. A name that is no token would fail every later GET.
    if (!TOKEN.test(name))
      throw storageFault('InvalidArgument', 'The name of a metadata field cannot be sent', {
        ArgumentName: header.slice(0, 100),
      })
    const text = decodeWords(utf8Of(checkValue(header, String(value))))
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text)
    metadata[name] = text
  }
  if (bytes > METADATA_BYTES_MAX)
    throw storageFault('MetadataTooLarge', undefined, {
      Size: bytes,
      MaxSizeAllowed: METADATA_BYTES_MAX,
    })
  return metadata
}

/** Headers have one character for each byte; most clients mean UTF-8, some latin1. */
function utf8Of(bytes: string): string {
  if (!/[\u0080-\u00ff]/.test(bytes)) return bytes
  const text = Buffer.from(bytes, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? bytes : text
}

/** The reply headers of a stored object. */
export function replyHeaders({ system, metadata }: ObjectHeaders): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': system.contentType }
  for (const [field, name] of SYSTEM) {
    const value = system[field]
    if (value !== undefined) headers[name] = value
  }
  if (system.contentEncoding !== undefined) headers['content-encoding'] = system.contentEncoding
  if (system.websiteRedirect !== undefined)
    headers['x-amz-website-redirect-location'] = system.websiteRedirect
  // AWS returns text that is not ASCII as RFC 2047 encodes it.
  for (const [name, text] of Object.entries(metadata))
    headers[`${PREFIX}${name}`] = encodeWords(text)
  return headers
}

const OVERRIDES = [
  'content-type',
  'content-language',
  'expires',
  'cache-control',
  'content-disposition',
  'content-encoding',
] as const

/**
 * Reply headers that a GET asks for (`response-content-type`, …). Throws InvalidArgument (characters that no header
 * can have), InvalidRequest (an anonymous caller).
 */
export function overriddenHeaders(query: Query, isAnonymous: boolean): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of OVERRIDES) {
    const value = query.get(`response-${name}`)
    if (value === undefined) continue
    if (isAnonymous)
      throw storageFault(
        'InvalidRequest',
        'Request specific response headers cannot be used for anonymous GET requests.',
      )
    const bytes = Buffer.from(value, 'utf8').toString('latin1')
    headers[name] = checkValue(`response-${name}`, bytes)
  }
  return headers
}
