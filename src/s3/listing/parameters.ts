// The parameters of listings. Markers are keys; continuation tokens are opaque to clients.
import type { IncomingHttpHeaders } from 'node:http'
import { crc32 } from 'node:zlib'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { checkVersionIdMarker } from '#s3/version-id.ts'
import type { Query } from '#s3/target.ts'

const PAGE_MAX = 1000
const BUCKETS_PAGE_MAX = 10_000
const INT32_MAX = 2_147_483_647

type Listing = {
  readonly prefix: string
  /** '' for no grouping. */
  readonly delimiter: string
  /** At most this many keys and common prefixes together. */
  readonly max: number
  /** True when names in the reply are percent-encoded. */
  readonly encode: boolean
}

export type ObjectsQuery = Listing & {
  /** Keys after this key; '' from the start. */
  readonly marker: string
}

/** GET /bucket. */
export function objectsQuery(query: Query): ObjectsQuery {
  return { ...listing(query, 'max-keys'), marker: noNul(query, 'marker') }
}

export type ObjectsV2Query = Listing & {
  readonly startAfter: string
  /** As the client sent it; the reply repeats it. */
  readonly continuationToken: string | undefined
  /** Keys after this key: of the token, otherwise `startAfter`. */
  readonly after: string
  readonly fetchOwner: boolean
}

/** GET /bucket?list-type=2. Throws InvalidArgument. */
export function objectsV2Query(query: Query): ObjectsV2Query {
  const startAfter = noNul(query, 'start-after')
  const continuationToken = query.get('continuation-token')
  return {
    ...listing(query, 'max-keys'),
    startAfter,
    continuationToken,
    after: continuationToken ? readToken(continuationToken) : startAfter,
    fetchOwner: query.get('fetch-owner') === 'true',
  }
}

export type VersionsQuery = Listing & {
  readonly keyMarker: string
  readonly versionIdMarker: string | undefined
}

/** GET /bucket?versions. Throws InvalidArgument. */
export function versionsQuery(query: Query): VersionsQuery {
  const keyMarker = noNul(query, 'key-marker')
  const versionIdMarker = query.get('version-id-marker') || undefined
  if (versionIdMarker !== undefined && keyMarker === '')
    throw storageFault(
      'InvalidArgument',
      'A version-id marker cannot be specified without a key marker.',
      { ArgumentName: 'version-id-marker', ArgumentValue: versionIdMarker },
    )
  if (versionIdMarker !== undefined) checkVersionIdMarker(versionIdMarker)
  return { ...listing(query, 'max-keys'), keyMarker, versionIdMarker }
}

export type UploadsQuery = Listing & {
  readonly keyMarker: string
  /** Ignored without a key marker, as at AWS. */
  readonly uploadIdMarker: string
}

/** GET /bucket?uploads. */
export function uploadsQuery(query: Query): UploadsQuery {
  const keyMarker = noNul(query, 'key-marker')
  const uploadIdMarker = keyMarker === '' ? '' : (query.get('upload-id-marker') ?? '')
  return { ...listing(query, 'max-uploads'), keyMarker, uploadIdMarker }
}

/** Parts after this number, at most so many. */
export type PartsPage = { readonly after: number; readonly max: number }
export type PartsQuery = PartsPage & { readonly encode: boolean }

/** GET /bucket/key?uploadId. */
export function partsQuery(query: Query): PartsQuery {
  return {
    after: count(query, 'part-number-marker', 0, INT32_MAX),
    max: count(query, 'max-parts', PAGE_MAX, PAGE_MAX),
    encode: encoding(query),
  }
}

/** The page of GetObjectAttributes, from headers. Throws InvalidArgument. */
export function attributesPage(headers: IncomingHttpHeaders): PartsPage {
  const given = new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return {
    after: count(given, 'x-amz-part-number-marker', 0, INT32_MAX),
    max: count(given, 'x-amz-max-parts', PAGE_MAX, PAGE_MAX),
  }
}

export type AnnotationsQuery = {
  readonly prefix: string
  readonly after: string
  /** As the client sent it; the reply repeats it. */
  readonly continuationToken: string | undefined
  readonly max: number
}

/** GET /bucket/key?annotation. Throws InvalidArgument. */
export function annotationsQuery(query: Query): AnnotationsQuery {
  const continuationToken = query.get('continuation-token') || undefined
  const name = 'max-annotation-results'
  const max = count(query, name, PAGE_MAX, PAGE_MAX)
  if (max === 0)
    throw storageFault('InvalidArgument', `${name} must be an integer from 1 to ${PAGE_MAX}`, {
      ArgumentName: name,
      ArgumentValue: 0,
    })
  return {
    prefix: noNul(query, 'annotation-prefix'),
    after: continuationToken ? readToken(continuationToken) : '',
    continuationToken,
    max,
  }
}

export type BucketsQuery = {
  readonly prefix: string
  readonly after: string
  readonly region: string | undefined
  readonly max: number
}

/** GET /. Throws InvalidArgument. */
export function bucketsQuery(query: Query): BucketsQuery {
  const token = query.get('continuation-token')
  const max = count(query, 'max-buckets', BUCKETS_PAGE_MAX, BUCKETS_PAGE_MAX)
  if (max === 0)
    throw storageFault('InvalidArgument', 'max-buckets must be an integer from 1 to 10000', {
      ArgumentName: 'max-buckets',
      ArgumentValue: 0,
    })
  return {
    prefix: noNul(query, 'prefix'),
    after: token ? readToken(token) : '',
    region: query.get('bucket-region'),
    max,
  }
}

function listing(query: Query, maxName: string): Listing {
  return {
    prefix: noNul(query, 'prefix'),
    delimiter: noNul(query, 'delimiter'),
    max: count(query, maxName, PAGE_MAX, PAGE_MAX),
    encode: encoding(query),
  }
}

function encoding(query: Query): boolean {
  const type = query.get('encoding-type')
  if (type === undefined || type === '') return false
  if (type.toLowerCase() === 'url') return true
  throw storageFault('InvalidArgument', 'Invalid Encoding Method specified in Request', {
    ArgumentName: 'encoding-type',
    ArgumentValue: type,
  })
}

function count(query: Query, name: string, whenAbsent: number, max: number): number {
  const text = query.get(name)
  if (text === undefined || text === '') return whenAbsent
  const value = /^-?\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (value >= 0 && value <= INT32_MAX) return Math.min(value, max)
  throw storageFault(
    'InvalidArgument',
    Number.isNaN(value)
      ? `Provided ${name} not an integer or within integer range`
      : `Argument ${name} must be an integer between 0 and ${INT32_MAX}`,
    { ArgumentName: name, ArgumentValue: text },
  )
}

// No key has a NUL, and PostgreSQL's text cannot hold one.
function noNul(query: Query, name: string): string {
  const text = query.get(name) ?? ''
  if (!text.includes('\0')) return text
  throw storageFault('InvalidArgument', `The parameter ${name} holds the character NUL`, {
    ArgumentName: name,
  })
}

/** The token of the page after this name. */
export function writeToken(after: string): string {
  const name = Buffer.from(after, 'utf8')
  const bytes = Buffer.alloc(4 + name.length)
  bytes.writeUInt32BE(crc32(name))
  name.copy(bytes, 4)
  return bytes.toString('base64url')
}

/** The checksum refuses foreign tokens. It is no secret: tokens hold markers. */
function readToken(token: string): string {
  const bytes = Buffer.from(token, 'base64url')
  const name = bytes.subarray(4)
  if (bytes.length >= 4 && bytes.readUInt32BE() === crc32(name) && !name.includes(0))
    return name.toString('utf8')
  throw storageFault('InvalidArgument', 'The continuation token provided is incorrect', {
    ArgumentName: 'continuation-token',
  })
}
