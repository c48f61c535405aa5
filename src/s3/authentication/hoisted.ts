// Headers in a presigned address: SDKs move the `x-amz-*` headers into the query when they sign it, and S3 reads them
// there as headers. All of them are signed: version 4 signs the whole query, version 2 the header that each stands
// for.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { CHECKSUMS, isAlgorithm, type ChecksumAlgorithm } from '#s3/checksums/algorithms.ts'
import type { S3Target } from '#s3/target.ts'
import { queryVersion } from './signed-query.ts'

/** Parameters of the signature and of the body's hash. */
const OWN =
  /^x-amz-(algorithm|credential|date|expires|signedheaders|signature|security-token|content-sha256)$/

/** A client's key: AWS accepts it only in headers, because addresses are kept in logs. */
const CUSTOMER_KEY = /-server-side-encryption-customer-key$/

const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * The headers of a request, and those in its presigned address. A header of the request wins: it is signed by name,
 * otherwise the signature is refused. Nothing is verified here: before the signature is verified the result may only
 * select the operation. Throws InvalidArgument (characters that no header can have), InvalidRequest (a client's key).
 */
export function withHoisted(
  { form, query }: Pick<S3Target, 'form' | 'query'>,
  headers: IncomingHttpHeaders,
): IncomingHttpHeaders {
  if (query.size === 0 || form === 'website' || queryVersion(query) === undefined) return headers
  const hoisted = withoutPlaceholder(hoistedHeaders(query))
  return { ...hoisted, ...headers }
}

const SDK_ALGORITHM = 'x-amz-sdk-checksum-algorithm'

/** The checksums of an empty body. */
export const SUMS_OF_NOTHING: Readonly<Record<ChecksumAlgorithm, string>> = {
  CRC32: 'AAAAAA==',
  CRC32C: 'AAAAAA==',
  CRC64NVME: 'AAAAAAAAAAA=',
  MD5: '1B2M2Y8AsgTpgAmY7PhCfg==',
  SHA1: '2jmj7l5rSw0yVb/vlWAYkK/YBwk=',
  SHA256: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  SHA512:
    'z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
  XXHASH64: '70bbN1HY6Zk=',
  XXHASH3: 'LQaABTjTlMI=',
  XXHASH128: 'maoG0wFHmNhgAcMkRo1Jfw==',
}

/** Headers that boto3 moves into the address besides `x-amz-*`, only with version 2. */
const OF_VERSION_TWO: ReadonlySet<string> = new Set(['content-md5', 'content-type'])

/** The headers in a signed query, one character for each byte. Throws what withHoisted throws. */
export function hoistedHeaders(query: S3Target['query']): Record<string, string> {
  const found: Record<string, string> = {}
  const isVersionTwo = queryVersion(query) === 2
  for (const [parameter, text] of query) {
    const name = parameter.toLowerCase()
    const isHeader =
      (name.startsWith('x-amz-') && !OWN.test(name)) || (isVersionTwo && OF_VERSION_TWO.has(name))
    if (!isHeader) continue
    // One character for each byte, as node:http gives headers.
    const value = Buffer.from(text).toString('latin1')
    if (!VALUE.test(value))
      throw storageFault('InvalidArgument', 'A parameter of the address cannot be a header', {
        ArgumentName: parameter,
      })
    if (CUSTOMER_KEY.test(name))
      throw storageFault(
        'InvalidRequest',
        `The key of ${name} must be sent in a header, not in the address`,
      )
    found[name] ??= value
  }
  return found
}

/**
 * Drops the checksum that the AWS SDK puts into an address without knowing the body: it is of no bytes, and has the
 * algorithm beside it. A checksum from the caller has no algorithm beside it.
 */
function withoutPlaceholder(found: Record<string, string>): Record<string, string> {
  const { [SDK_ALGORITHM]: named = '', ...others } = found
  const algorithm = named.toUpperCase()
  if (!isAlgorithm(algorithm)) return found
  const { header } = CHECKSUMS[algorithm]
  const { [header]: sum, ...rest } = others
  return sum === SUMS_OF_NOTHING[algorithm] ? rest : found
}
