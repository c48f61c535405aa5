// Parses the address of a request: bucket, key and parameters. Keeps the raw text, which signatures cover. Does not
// use `new URL`, which folds `..` out of keys.
import { storageFault } from '#contract/storage/storage-errors.ts'

/** The most bytes of UTF-8 in a key (AWS, "Naming Amazon S3 objects"). */
export const KEY_BYTES_MAX = 1024
const QUERY_PAIRS_MAX = 256

/** The host names of this server, without port, in lower case. */
export type BaseHosts = {
  /** `<bucket>.<host>` names a bucket; the host itself takes it from the path. */
  readonly api: readonly string[]
  /** `<bucket>.<host>` is the bucket's website. */
  readonly website: readonly string[]
}

/** Decoded parameters; the first value of a repeated name counts, as at AWS. */
export type Query = ReadonlyMap<string, string>

export type S3Target = {
  readonly form: 'path' | 'host' | 'website'
  readonly bucket: string | undefined
  /** Decoded once; undefined when the path ends after the bucket. */
  readonly key: string | undefined
  readonly query: Query
  /** As sent, from the first `/` to before the `?`. */
  readonly rawPath: string
  /** As sent, after the `?`; empty when there is none. */
  readonly rawQuery: string
}

/** The bucket and the raw text of an address, known also when its key or query is malformed. */
export type RequestTarget = Pick<S3Target, 'form' | 'bucket' | 'rawPath' | 'rawQuery'> & {
  /** As sent; empty when there is none. */
  readonly rawKey: string
}

/** Decodes key and query. Throws InvalidURI, KeyTooLongError, InvalidArgument (NUL in a key). */
export function targetAt({ rawKey, ...place }: RequestTarget): S3Target {
  return { ...place, key: keyOf(rawKey), query: parseQuery(place.rawQuery) }
}

/**
 * Finds the bucket and splits a request target (origin form, one character for each byte, as node:http gives it), with
 * its Host header. Throws InvalidURI, InvalidArgument.
 */
export function parsePlace(rawTarget: string, host: string, bases: BaseHosts): RequestTarget {
  if (!rawTarget.startsWith('/')) throw storageFault('InvalidURI', undefined, { URI: rawTarget })
  const mark = rawTarget.indexOf('?')
  const rawPath = mark < 0 ? rawTarget : rawTarget.slice(0, mark)
  const rawQuery = mark < 0 ? '' : rawTarget.slice(mark + 1)
  const named = bucketOfHost(host, bases)
  if (named !== undefined) return { ...named, rawKey: rawPath.slice(1), rawPath, rawQuery }
  const slash = rawPath.indexOf('/', 1)
  const rawBucket = slash < 0 ? rawPath.slice(1) : rawPath.slice(1, slash)
  const rawKey = slash < 0 ? '' : rawPath.slice(slash + 1)
  // `//key` names the empty bucket, which bucket-name.ts refuses; `/` names none.
  const bucket = rawBucket === '' && slash < 0 ? undefined : decodeOnce(rawBucket)
  return { form: 'path', bucket, rawKey, rawPath, rawQuery }
}

/** The bucket of a virtual-hosted or website address; undefined when the path names it. */
function bucketOfHost(
  host: string,
  bases: BaseHosts,
): { form: 'host' | 'website'; bucket: string } | undefined {
  const name = host.toLowerCase().replace(/:\d*$/, '')
  // Website hosts first, as they may be sub-domains of an API host.
  for (const form of ['website', 'host'] as const)
    for (const base of form === 'website' ? bases.website : bases.api)
      if (name.length > base.length + 1 && name.endsWith(`.${base}`))
        return { form, bucket: name.slice(0, -base.length - 1) }
  return undefined
}

function keyOf(rawKey: string): string | undefined {
  if (rawKey === '') return undefined
  const key = decodeOnce(rawKey)
  checkKey(key)
  return key
}

/** Throws KeyTooLongError, and InvalidArgument for NUL, which PostgreSQL's text cannot store. */
export function checkKey(key: string): void {
  // A UTF-16 unit takes at most three bytes of UTF-8.
  if (key.length * 3 > KEY_BYTES_MAX) {
    const size = Buffer.byteLength(key)
    if (size > KEY_BYTES_MAX)
      throw storageFault('KeyTooLongError', undefined, {
        Size: size,
        MaxSizeAllowed: KEY_BYTES_MAX,
      })
  }
  refuseNul(key)
}

function parseQuery(rawQuery: string): Query {
  const query = new Map<string, string>()
  if (rawQuery === '') return query
  for (const [name, value] of rawPairs(rawQuery)) {
    const decoded = decodeOnce(name)
    if (!query.has(decoded)) query.set(decoded, decodeOnce(value))
  }
  return query
}

/** The pairs of a query string, still encoded, except that `+` is `%20`. Throws InvalidURI. */
export function rawPairs(rawQuery: string): [name: string, value: string][] {
  const parts = rawQuery.split('&').filter((part) => part !== '')
  if (parts.length > QUERY_PAIRS_MAX)
    throw storageFault('InvalidURI', `The query has more than ${QUERY_PAIRS_MAX} parameters`)
  return parts.map((part) => {
    const text = part.replaceAll('+', '%20')
    const equals = text.indexOf('=')
    return equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)]
  })
}

/**
 * Decodes percent-encoded text, with one character for each byte, into UTF-8 text, once. Throws InvalidURI, and
 * InvalidArgument for NUL.
 */
export function decodeOnce(raw: string): string {
  const escaped = raw.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
  if (!escaped.includes('%')) return escaped
  const decoded = decodeText(escaped, raw)
  refuseNul(decoded)
  return decoded
}

function decodeText(escaped: string, raw: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch {
    throw storageFault('InvalidURI', undefined, { URI: raw })
  }
}

/** Encodes as signatures do: encodeURIComponent() leaves out five characters. */
export const encodeName = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Encodes a key, or bucket and key, as a path without its first `/`. */
export const encodePath = (text: string): string => text.split('/').map(encodeName).join('/')

function refuseNul(text: string): void {
  if (text.includes('\0'))
    throw storageFault('InvalidArgument', 'No name can contain the character NUL', {
      ArgumentName: 'key',
    })
}
