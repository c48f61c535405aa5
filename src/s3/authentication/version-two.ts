// Signature version 2: HMAC-SHA1 over method, three headers, the x-amz-* headers and the resource (AWS, "Signing and
// authenticating REST requests"). It covers neither the body nor the parameters of a listing. Every parameter that
// names an operation, a version or a part must be signed, although older clients leave some out. Otherwise an address
// that puts an object could set its retention.
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { SUBRESOURCE_NAMES } from '#s3/match.ts'
import { decodeOnce, rawPairs, type S3Target } from '#s3/target.ts'
import type { SignedRequest } from './canonical.ts'
import { hoistedHeaders } from './hoisted.ts'
import { sameSignature } from './same-signature.ts'
import { parseHttpDate } from './timestamp.ts'

export type CredentialV2 = {
  readonly kind: 'header-v2' | 'query-v2'
  readonly accessKey: string
  /** Base64. */
  readonly signature: string
  /** The line of the signed text that bounds its time: `Date`, nothing beside x-amz-date, or `Expires`. */
  readonly dateLine: string
  /** The signing time of a header; the end of an address. */
  readonly timeMs: number
}

/** `AWS <access key>:<signature>`, without the scheme. Throws InvalidArgument, AccessDenied (the date). */
export function fromHeaderV2(value: string, headers: IncomingHttpHeaders): CredentialV2 {
  const [, accessKey, signature] = /^(\S+):(\S+)$/.exec(value.trim()) ?? []
  if (accessKey === undefined || signature === undefined)
    throw storageFault(
      'InvalidArgument',
      'AWS authorization header is invalid. Expected AwsAccessKeyId:signature',
      { ArgumentName: 'Authorization' },
    )
  const amzDate = headers['x-amz-date']
  const timeMs = parseHttpDate(String(amzDate ?? headers.date ?? ''))
  if (timeMs === undefined || timeMs < 0)
    throw storageFault(
      'AccessDenied',
      'AWS authentication requires a valid Date or x-amz-date header',
    )
  const dateLine = amzDate === undefined ? (headers.date ?? '') : ''
  return { kind: 'header-v2', accessKey, signature, dateLine, timeMs }
}

/** In seconds since 1970: at most twelve digits. */
const EXPIRES = /^-?\d{1,12}$/

/** The three parameters of an address. Throws AccessDenied. */
export function fromQueryV2(query: S3Target['query']): CredentialV2 {
  const accessKey = query.get('AWSAccessKeyId')
  const signature = query.get('Signature')
  const expires = query.get('Expires')
  if (!accessKey || !signature || !expires)
    throw storageFault(
      'AccessDenied',
      'Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters',
    )
  if (!EXPIRES.test(expires))
    throw storageFault('AccessDenied', 'Invalid date (should be seconds since epoch)')
  const timeMs = Number(expires) * 1000
  return { kind: 'query-v2', accessKey, signature, dateLine: expires, timeMs }
}

/** The parts of a request that version 2 signs, besides those of version 4. */
export type SignedRequestV2 = SignedRequest & Pick<S3Target, 'form' | 'bucket' | 'query'>

/** The texts that a client may have signed: `/bucket` is the same as `/bucket/`, and boto3 signs the latter. */
export function textsToSign(request: SignedRequestV2, credential: CredentialV2): Buffer[] {
  const { form, bucket, rawPath } = request
  const text = textToSign(request, credential)
  if (form !== 'path' || bucket === undefined || rawPath.includes('/', 1)) return [text]
  return [text, textToSign({ ...request, rawPath: `${rawPath}/` }, credential)]
}

function textToSign(request: SignedRequestV2, { kind, dateLine }: CredentialV2): Buffer {
  const headers = signedHeaders(request, kind)
  const amzLines = [...headers]
    .filter(([name]) => name.startsWith('x-amz-'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}:${value}\n`)
  const md5 = headers.get('content-md5') ?? ''
  const type = headers.get('content-type') ?? ''
  const lines = [request.method, md5, type, dateLine, amzLines.join('')]
  // One character for each byte, as node gives addresses and headers.
  return Buffer.from(`${lines.join('\n')}${canonicalResource(request)}`, 'latin1')
}

/** Headers by name, with those in the address that the request does not have. */
function signedHeaders({ rawHeaders, query }: SignedRequestV2, kind: CredentialV2['kind']) {
  const values = new Map<string, string>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    const value = unfolded(rawHeaders[at + 1] ?? '')
    const earlier = values.get(name)
    // The first Content-Type and Content-MD5 count, as in the headers that node gives.
    if (earlier === undefined) values.set(name, value)
    else if (name.startsWith('x-amz-')) values.set(name, `${earlier},${value}`)
  }
  if (kind === 'query-v2')
    for (const [name, value] of Object.entries(hoistedHeaders(query)))
      if (!values.has(name)) values.set(name, unfolded(value))
  return values
}

const unfolded = (value: string): string => value.trim().replaceAll(/\s*\r?\n\s+/g, ' ')

/** Parameters that name an operation or change its effect. */
const SIGNED_PARAMETERS: ReadonlySet<string> = new Set([
  // Selects the form of a listing; no client signs it.
  ...[...SUBRESOURCE_NAMES].filter((name) => name !== 'list-type'),
  'annotationName',
  'defaultObjectAcl',
  'partNumber',
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
  'response-content-language',
  'response-content-type',
  'response-expires',
  'select-type',
  'storageClass',
  'versionId',
])

/** The bucket and the path as sent, and the signed parameters by name, their values decoded. */
function canonicalResource({ form, bucket, rawPath, rawQuery }: SignedRequestV2): string {
  const path = form === 'path' ? rawPath : `/${bucket ?? ''}${rawPath}`
  // All values of a repeated name: the first counts, and none must go unnoticed.
  const signed = rawPairs(rawQuery)
    .map(([name, value]): [string, string] => [decodeOnce(name), bytesOf(decodeOnce(value))])
    .filter(([name]) => SIGNED_PARAMETERS.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
  return signed.length === 0 ? path : `${path}?${signed.join('&')}`
}

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

/** Checks a signature of version 2 over one of the texts. Throws SignatureDoesNotMatch. */
export function checkTextV2(texts: readonly Buffer[], signature: string, secret: string): void {
  for (const text of texts) {
    const expected = createHmac('sha1', secret).update(text).digest('base64')
    if (sameSignature(signature.trim(), expected)) return
  }
  throw storageFault('SignatureDoesNotMatch', undefined, {
    StringToSign: String(texts[0]),
    SignatureProvided: signature,
  })
}
