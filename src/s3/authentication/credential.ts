// Parses the credential of a request: Authorization header, presigned query, bearer token or none (AWS,
// "Authenticating Requests (AWS Signature Version 4)"). Verifies nothing. Version 2: version-two.ts.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { S3Target } from '#s3/target.ts'
import { isSignedQuery, queryVersion } from './signed-query.ts'
import { parseTimestamp } from './timestamp.ts'
import { fromHeaderV2, fromQueryV2, type CredentialV2 } from './version-two.ts'

export const ALGORITHM = 'AWS4-HMAC-SHA256'
/** AWS: seven days. */
export const EXPIRY_MAX_S = 604_800

/** The position and version of a signature. */
export type Signing = { readonly by: 'header' | 'query' | 'form'; readonly version: 2 | 4 }

/** The parameters of a signature of version 4. */
export type SignedCredential = {
  readonly kind: 'header' | 'query' | 'form'
  readonly accessKey: string
  /** `YYYYMMDD` of the scope. */
  readonly date: string
  readonly region: string
  readonly service: string
  /** As signed: `YYYYMMDDTHHMMSSZ`. */
  readonly timestamp: string
  readonly timeMs: number
  /** Lower case; empty for forms. */
  readonly signedHeaders: readonly string[]
  readonly signature: string
  /** Only presigned requests expire. */
  readonly expiresS?: number
}

export type S3Credential =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'bearer'; readonly token: string }
  | SignedCredential
  | CredentialV2

/**
 * The credential of a request. Throws NotImplemented (version 4A), InvalidToken (session tokens: none are
 * issued here), InvalidArgument, AuthorizationHeaderMalformed, AuthorizationQueryParametersError,
 * AccessDenied (dates).
 */
export function parseCredential(
  { query }: Pick<S3Target, 'query'>,
  headers: IncomingHttpHeaders,
): S3Credential {
  const authorization = headers.authorization ?? ''
  const presigned = queryVersion(query)
  const isTwice = authorization !== '' || (presigned === 4 && isSignedQuery(query, 2))
  if (presigned !== undefined && isTwice)
    throw storageFault(
      'InvalidArgument',
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified',
      { ArgumentName: 'Authorization' },
    )
  if (authorization === '' && presigned === undefined) return { kind: 'anonymous' }
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (bearer !== undefined) return { kind: 'bearer', token: bearer }
  if (headers['x-amz-security-token'] !== undefined || hasSessionToken(query))
    throw storageFault('InvalidToken')
  switch (presigned) {
    case 4:
      return fromQuery(query)
    case 2:
      return fromQueryV2(query)
    case undefined:
      return fromHeader(authorization, headers)
  }
}

/** Parameters of version 2 are in lower case. */
const hasSessionToken = (query: S3Target['query']): boolean =>
  query.has('X-Amz-Security-Token') || query.has('x-amz-security-token')

function fromHeader(
  authorization: string,
  headers: IncomingHttpHeaders,
): SignedCredential | CredentialV2 {
  const space = authorization.indexOf(' ')
  const scheme = space < 0 ? authorization : authorization.slice(0, space)
  if (scheme === 'AWS') return fromHeaderV2(authorization.slice(scheme.length), headers)
  refuseScheme(scheme)
  // Clients separate with `,` or `, `.
  const parts = new Map<string, string>()
  for (const part of authorization.slice(scheme.length).split(',')) {
    const equals = part.indexOf('=')
    if (equals > 0) parts.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim())
  }
  const malformed = (problem: string) =>
    storageFault(
      'AuthorizationHeaderMalformed',
      `The authorization header is malformed; ${problem}.`,
    )
  const part = (name: string): string => {
    const value = parts.get(name)
    if (value === undefined || value === '') throw malformed(`the ${name} is missing`)
    return value
  }
  const scope = parseScope(part('Credential'), malformed)
  const { timestamp, timeMs } = headerTime(headers)
  if (!timestamp.startsWith(scope.date))
    throw malformed(`the date in the credential scope does not match ${timestamp}`)
  return {
    kind: 'header',
    ...scope,
    timestamp,
    timeMs,
    signedHeaders: headerList(part('SignedHeaders')),
    signature: part('Signature'),
  }
}

function refuseScheme(scheme: string): void {
  if (scheme === ALGORITHM) return
  if (scheme.startsWith('AWS4-ECDSA'))
    throw storageFault('NotImplemented', 'Signature version 4A is not implemented')
  throw storageFault('InvalidArgument', 'Unsupported Authorization Type', {
    ArgumentName: 'Authorization',
  })
}

function fromQuery(query: S3Target['query']): SignedCredential {
  const malformed = (problem: string) =>
    storageFault(
      'AuthorizationQueryParametersError',
      `Error parsing the query-string authentication parameters; ${problem}.`,
    )
  const parameter = (name: string): string => {
    const value = query.get(name)
    if (value === undefined || value === '')
      throw storageFault(
        'AuthorizationQueryParametersError',
        'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
      )
    return value
  }
  refuseScheme(parameter('X-Amz-Algorithm'))
  const scope = parseScope(parameter('X-Amz-Credential'), malformed)
  const timestamp = parameter('X-Amz-Date')
  const timeMs = parseTimestamp(timestamp)
  if (timeMs === undefined || !timestamp.startsWith(scope.date))
    throw malformed('X-Amz-Date must be in the ISO8601 Long Format and of the date of the scope')
  return {
    kind: 'query',
    ...scope,
    timestamp,
    timeMs,
    signedHeaders: headerList(parameter('X-Amz-SignedHeaders')),
    signature: parameter('X-Amz-Signature'),
    expiresS: expiry(parameter('X-Amz-Expires')),
  }
}

// An address that expired before it began has expired: 403, as the public suite expects.
function expiry(text: string): number {
  if (!/^-?\d{1,15}$/.test(text))
    throw storageFault('AuthorizationQueryParametersError', 'X-Amz-Expires should be a number')
  const expiresS = Number(text)
  if (expiresS < 1) throw storageFault('AccessDenied', 'X-Amz-Expires must be positive')
  if (expiresS > EXPIRY_MAX_S)
    throw storageFault(
      'AuthorizationQueryParametersError',
      `X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than ${EXPIRY_MAX_S} seconds`,
    )
  return expiresS
}

type CredentialScope = Pick<SignedCredential, 'accessKey' | 'date' | 'region' | 'service'>

/** `<access key>/<date>/<region>/s3/aws4_request`; any region, because one server serves all. */
export function parseScope(text: string, malformed: (problem: string) => Error): CredentialScope {
  const parts = text.split('/')
  if (parts.length < 5)
    throw malformed(
      'the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request"',
    )
  const [date = '', region = '', service = '', terminal] = parts.slice(-4)
  const accessKey = parts.slice(0, -4).join('/')
  if (terminal !== 'aws4_request')
    throw malformed('incorrect terminal; this endpoint uses "aws4_request"')
  if (service !== 's3') throw malformed('incorrect service; this endpoint belongs to "s3"')
  if (!/^\d{8}$/.test(date)) throw malformed('incorrect date format; it should be "yyyyMMdd"')
  if (accessKey === '') throw malformed('the access key is empty')
  return { accessKey, date, region, service }
}

function headerTime(headers: IncomingHttpHeaders): { timestamp: string; timeMs: number } {
  const amzDate = headers['x-amz-date']
  if (typeof amzDate === 'string') {
    const timeMs = parseTimestamp(amzDate)
    if (timeMs !== undefined) return { timestamp: amzDate, timeMs }
  } else if (headers.date !== undefined) {
    const timeMs = Date.parse(headers.date)
    if (Number.isFinite(timeMs)) {
      const timestamp = new Date(timeMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
      return { timestamp, timeMs }
    }
  }
  throw storageFault(
    'AccessDenied',
    'AWS authentication requires a valid Date or x-amz-date header',
  )
}

const headerList = (text: string): string[] => text.toLowerCase().split(';').filter(Boolean)
