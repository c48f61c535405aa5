// One line of an access log (AWS, "Amazon S3 server access log format"). Text from clients is encoded or quoted, so
// that it can end neither its field nor the line. Lines contain no credentials.
import { tokenMask } from '#base/mask-tokens.ts'
import type { Signing } from '#s3/authentication/credential.ts'

/** The length of a whole token; object names that only begin like a token stay unchanged. */
const withoutTokens = tokenMask(38)
/** The most characters of a header from the client. */
const HEADER_LENGTH_MAX = 1024

export type LoggedRequest = {
  readonly bucketOwner: string
  readonly bucket: string
  readonly timeMs: number
  readonly address: string
  /** The caller's account; undefined for an anonymous one. */
  readonly requester: string | undefined
  readonly requestId: string
  readonly hostId: string
  /** `REST.GET.OBJECT` */
  readonly operation: string
  readonly key: string | undefined
  readonly method: string
  /** Path and query as sent; undefined for a part of a request. */
  readonly target: string | undefined
  readonly status: number
  readonly errorCode: string | undefined
  /** In bytes. */
  readonly sent: number
  readonly objectSize: number | undefined
  /** Until the last byte was sent, and until the first byte was sent. */
  readonly totalMs: number
  readonly turnaroundMs: number
  readonly referer: string | undefined
  readonly userAgent: string | undefined
  readonly versionId: string | undefined
  readonly signing: Signing | undefined
  readonly host: string
  readonly tlsVersion: string | undefined
  readonly cipherSuite: string | undefined
  /** True when an ACL allowed the request. */
  readonly neededAcl: boolean
}

const AUTHENTICATION = { header: 'AuthHeader', query: 'QueryString', form: 'AuthHeader' } as const

/** The line, without its line end. */
export const accessLogLine = (request: LoggedRequest): string => withoutTokens(lineOf(request))

function lineOf(request: LoggedRequest): string {
  const { method, target } = request
  // AWS gives a part of a request neither bytes sent nor times, and no quotes.
  const isWhole = target !== undefined
  const text = (value: string | undefined) => (isWhole ? quoted(value) : '-')
  const time = (ms: number) => (isWhole ? Math.round(ms) : '-')
  return [
    request.bucketOwner,
    request.bucket,
    logTime(request.timeMs),
    request.address,
    word(request.requester),
    request.requestId,
    request.operation,
    word(request.key),
    text(isWhole ? `${method} ${withoutSignature(target)} HTTP/1.1` : undefined),
    request.status,
    word(request.errorCode),
    request.sent === 0 ? '-' : request.sent,
    request.objectSize ?? '-',
    time(request.totalMs),
    time(request.turnaroundMs),
    text(header(request.referer && withoutSignature(request.referer))),
    text(header(request.userAgent)),
    word(request.versionId),
    word(request.hostId),
    request.signing === undefined ? '-' : `SigV${request.signing.version}`,
    word(request.cipherSuite),
    word(request.signing && AUTHENTICATION[request.signing.by]),
    word(request.host),
    word(request.tlsVersion),
    '-',
    request.neededAcl ? 'Yes' : '-',
  ].join(' ')
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function logTime(timeMs: number): string {
  const [year, month, day, clock] = new Date(timeMs).toISOString().split(/[-T.]/)
  return `[${day}/${MONTHS[Number(month) - 1]}/${year}:${clock} +0000]`
}

const SECRET_PARAMETERS =
  /^(?:x-amz-(?:credential|signature|security-token)|awsaccesskeyid|signature|code|state)$/i

/** Parameters of presigned addresses that are credentials, and those of a login that is sent to a wrong port. */
const withoutSignature = (address: string): string =>
  address.replace(/([?&])([^=&?#]*)=[^&#]*/g, (parameter, before: string, name: string) =>
    SECRET_PARAMETERS.test(decoded(name)) ? `${before}${name}=-` : parameter,
  )

const decoded = (name: string): string =>
  name.replace(/%([0-7][0-9a-f])/gi, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )

/** Masked before it is cut: the mask would not find half a token. */
const header = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : withoutTokens(value).slice(0, HEADER_LENGTH_MAX)

const word = (value: string | undefined): string =>
  value === undefined || value === ''
    ? '-'
    : encodeURIComponent(value.toWellFormed()).replace(/%(?:2F|3A)/g, decodeURIComponent)

// oxlint-disable-next-line no-control-regex -- these are what is looked for
const BREAKING = /["\\\x00-\x1f\x7f]/g

const quoted = (value: string | undefined): string =>
  value === undefined ? '"-"' : `"${value.replace(BREAKING, escaped)}"`

const escaped = (symbol: string): string =>
  `\\x${symbol.charCodeAt(0).toString(16).padStart(2, '0')}`
