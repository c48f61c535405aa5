// Object storage on the portal's origin: the S3 protocol below /s3, with the session in place of a signature. Its answers
// are data for this page and never documents of this origin.
import { Problem, unreachable } from './problem.ts'
import { tellSignedOut } from './signed-out.ts'

const ROOT = '/s3'
const TIMEOUT_MS = 30_000
/** Entries of a page. */
const PAGE = '200'

export type StoredObject = {
  readonly key: string
  readonly bytes: bigint
  readonly modifiedAt: string
}
export type Listing = {
  /** The cursor of the next page; null on the last one. */
  readonly next_cursor: string | null
  /** Whole, each with the prefix that was asked for and a slash at its end. */
  readonly prefixes: readonly string[]
  readonly data: readonly StoredObject[]
}

export type Place = { readonly bucket: string; readonly key: string }

/** The path of an object on the portal's origin. */
export const pathOf = ({ bucket, key }: Place): string =>
  `${ROOT}/${encodeURIComponent(bucket)}/${key.split('/').map(encodeURIComponent).join('/')}`

/** False for keys with a part "." or "..": addresses cannot have those. */
export const hasAddress = (key: string): boolean => !/(^|\/)\.\.?(\/|$)/.test(key)

/** The prefixes and objects directly below a prefix. */
export async function listObjects(
  { bucket, prefix, after }: { bucket: string; prefix: string; after: string },
  signal: AbortSignal,
): Promise<Listing> {
  const query = new URLSearchParams({
    'list-type': '2',
    delimiter: '/',
    'encoding-type': 'url',
    'max-keys': PAGE,
    prefix,
    ...(after !== '' && { 'continuation-token': after }),
  })
  const response = await sendS3(
    'GET',
    `${ROOT}/${encodeURIComponent(bucket)}?${query.toString()}`,
    { signal },
  )
  return listingOf(parse(await response.text()))
}

const listingOf = (answer: Document): Listing => ({
  next_cursor:
    textOf(answer, 'IsTruncated') === 'true' ? textOf(answer, 'NextContinuationToken') : null,
  prefixes: elements(answer, 'CommonPrefixes').map((entry) =>
    decodeURIComponent(textOf(entry, 'Prefix')),
  ),
  data: elements(answer, 'Contents').map((entry) => ({
    key: decodeURIComponent(textOf(entry, 'Key')),
    bytes: BigInt(textOf(entry, 'Size')),
    modifiedAt: textOf(entry, 'LastModified'),
  })),
})

export const makeBucket = (bucket: string): Promise<unknown> =>
  sendS3('PUT', `${ROOT}/${encodeURIComponent(bucket)}`, {})
export const removeBucket = (bucket: string): Promise<unknown> =>
  sendS3('DELETE', `${ROOT}/${encodeURIComponent(bucket)}`, {})
export const removeObject = (place: Place): Promise<unknown> => sendS3('DELETE', pathOf(place), {})

export async function headObject(place: Place, signal: AbortSignal): Promise<StoredObject> {
  const { headers } = await sendS3('HEAD', pathOf(place), { signal })
  return {
    key: place.key,
    bytes: BigInt(headers.get('content-length') ?? 0),
    modifiedAt: new Date(headers.get('last-modified') ?? 0).toISOString(),
  }
}

/** The first `bytesMax` bytes as text. */
export async function readText(
  place: Place,
  bytesMax: number,
  signal: AbortSignal,
): Promise<string> {
  const headers = { range: `bytes=0-${bytesMax - 1}` }
  return await (await sendS3('GET', pathOf(place), { signal, headers })).text()
}

/** Throws Problem, also of the S3 protocol's own errors. */
export async function sendS3(
  method: string,
  path: string,
  given: {
    readonly signal?: AbortSignal
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  },
): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(path, {
    method,
    headers: given.headers ?? {},
    ...(given.body !== undefined && { body: given.body }),
    signal: given.signal === undefined ? timeout : AbortSignal.any([given.signal, timeout]),
  }).catch((error: unknown) => {
    if (given.signal?.aborted) throw error
    throw unreachable()
  })
  if (response.status === 401) tellSignedOut()
  if (!response.ok) throw storageProblem(response.status, await response.text())
  return response
}

/** The problem of an error of S3; an answer that is none has its status alone. */
export function storageProblem(status: number, text: string): Problem {
  // The parser draws the fault of a text that is no XML, in a style that the policy of the page reports.
  const error = text.startsWith('<?xml') ? parse(text) : undefined
  const of = (name: string) => (error === undefined ? '' : textOf(error, name))
  return new Problem({
    status,
    code: of('Code') || 'unknown',
    detail: of('Message').replace(/\.$/, '') || `The storage answered ${status}`,
    requestId: of('RequestId') || undefined,
  })
}

export const parse = (text: string): Document =>
  new DOMParser().parseFromString(text, 'application/xml')

export const elements = (within: Document, name: string): Element[] => [
  ...within.getElementsByTagName(name),
]
export const textOf = (within: Document | Element, name: string): string =>
  within.getElementsByTagName(name)[0]?.textContent ?? ''
