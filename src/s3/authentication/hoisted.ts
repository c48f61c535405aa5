// What a presigned address says of its request: SDKs move the `x-amz-*` headers into the query when they
// sign it, and S3 reads them there as the headers that they were. Each of them is signed: by version 4 with
// all of the query, by version 2 as the header that it stands for.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage-errors.ts'
import { CHECKSUMS, isAlgorithm, type ChecksumAlgorithm } from '#s3/checksums/algorithms.ts'
import type { Target } from '#s3/target.ts'
import { queryVersion } from './signed-query.ts'

/** Those that are the signature, or what it says of the body. */
const OWN =
  /^x-amz-(algorithm|credential|date|expires|signedheaders|signature|security-token|content-sha256)$/

/** A client's own key: AWS takes it from headers alone, because addresses are kept in logs. */
const CUSTOMER_KEY = /-server-side-encryption-customer-key$/

const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * The headers of a request, and of a presigned address those that its query bears. A header of the request
 * wins: it is signed by its name, else the signature is refused. Nothing is verified here: what is found
 * may choose the operation, and nothing more before the signature holds. Throws InvalidArgument (what no
 * header holds), InvalidRequest (a client's key).
 */
export function withHoisted(
  { form, query }: Pick<Target, 'form' | 'query'>,
  headers: IncomingHttpHeaders,
): IncomingHttpHeaders {
  if (query.size === 0 || form === 'website' || queryVersion(query) === undefined) return headers
  const hoisted = withoutPlaceholder(hoistedHeaders(query))
  return { ...hoisted, ...headers }
}

const SDK_ALGORITHM = 'x-amz-sdk-checksum-algorithm'

/** What the checksums of no bytes are. */
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

/** What boto3 moves into the address beside `x-amz-*`, and only with version 2. */
const OF_VERSION_TWO: ReadonlySet<string> = new Set(['content-md5', 'content-type'])

/** The headers that a signed query bears, one character a byte. Throws as withHoisted does. */
export function hoistedHeaders(query: Target['query']): Record<string, string> {
  const found: Record<string, string> = {}
  const isVersionTwo = queryVersion(query) === 2
  for (const [parameter, text] of query) {
    const name = parameter.toLowerCase()
    const isHeader =
      (name.startsWith('x-amz-') && !OWN.test(name)) || (isVersionTwo && OF_VERSION_TWO.has(name))
    if (!isHeader) continue
    // One character a byte, as node:http gives headers.
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
 * Without the checksum that the AWS SDK puts into the address of a body that it does not know: it sums
 * nothing, and names the algorithm beside it. A checksum that a caller gives comes without that name.
 */
function withoutPlaceholder(found: Record<string, string>): Record<string, string> {
  const { [SDK_ALGORITHM]: named = '', ...others } = found
  const algorithm = named.toUpperCase()
  if (!isAlgorithm(algorithm)) return found
  const { header } = CHECKSUMS[algorithm]
  const { [header]: sum, ...rest } = others
  return sum === SUMS_OF_NOTHING[algorithm] ? rest : found
}
