// The checksums in a request: the header or trailer with one, and those of a multipart upload. Combinations that AWS
// refuses are refused (AWS, "Checking object integrity").
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import {
  ALGORITHMS,
  CHECKSUMS,
  isAlgorithm,
  type ChecksumAlgorithm,
  type ChecksumType,
} from './algorithms.ts'

export type RequestChecksum = {
  readonly algorithm: ChecksumAlgorithm
  /** The value of the header; undefined when a trailer follows. */
  readonly expected: Buffer | undefined
}

/** The checksum of a body; undefined without one. Throws InvalidRequest. */
export function requestChecksum(headers: IncomingHttpHeaders): RequestChecksum | undefined {
  const given = ALGORITHMS.filter((name) => headers[CHECKSUMS[name].header] !== undefined)
  const trailer = trailerAlgorithm(headers)
  const named = namedAlgorithm(headers, 'x-amz-sdk-checksum-algorithm')
  if (given.length + (trailer === undefined ? 0 : 1) > 1)
    throw storageFault(
      'InvalidRequest',
      'Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.',
    )
  const algorithm = given[0] ?? trailer
  if (algorithm === undefined) {
    // The AWS SDK's name for Content-MD5.
    const isMd5 = named === 'MD5' && headers['content-md5'] !== undefined
    if (named === undefined || isMd5) return undefined
    throw storageFault(
      'InvalidRequest',
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    )
  }
  if (named !== undefined && named !== algorithm) throw invalidValue('x-amz-sdk-checksum-algorithm')
  const text = headers[CHECKSUMS[algorithm].header]
  const expected = typeof text === 'string' ? parseChecksum(algorithm, text) : undefined
  return { algorithm, expected }
}

/** The bytes of a checksum in base64. Throws InvalidRequest. */
export function parseChecksum(algorithm: ChecksumAlgorithm, text: string): Buffer {
  const { header, bytes } = CHECKSUMS[algorithm]
  const value = Buffer.from(text, 'base64')
  // AWS answers InvalidRequest; the public suite expects BadDigest.
  if (value.length !== bytes || value.toString('base64') !== text)
    throw storageFault('BadDigest', `Value for ${header} header is invalid.`)
  return value
}

const invalidValue = (header: string) =>
  storageFault('InvalidRequest', `Value for ${header} header is invalid.`)

function trailerAlgorithm(headers: IncomingHttpHeaders): ChecksumAlgorithm | undefined {
  const trailer = headers['x-amz-trailer']
  if (trailer === undefined) return undefined
  const name = String(trailer).trim().toLowerCase()
  const found = ALGORITHMS.find((algorithm) => CHECKSUMS[algorithm].header === name)
  if (found !== undefined) return found
  throw storageFault(
    'InvalidRequest',
    'The value specified in the x-amz-trailer header is not supported',
  )
}

function namedAlgorithm(headers: IncomingHttpHeaders, name: string): ChecksumAlgorithm | undefined {
  const text = headers[name]
  if (text === undefined) return undefined
  const algorithm = String(text).toUpperCase()
  if (isAlgorithm(algorithm)) return algorithm
  throw storageFault(
    'InvalidRequest',
    name === 'x-amz-sdk-checksum-algorithm'
      ? `Value for ${name} header is invalid.`
      : 'Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]',
  )
}

export type MultipartChecksum = {
  readonly algorithm: ChecksumAlgorithm
  readonly type: ChecksumType
}

/** The checksum algorithm that a copy or an upload asks for; undefined without one. Throws InvalidRequest. */
export const askedAlgorithm = (headers: IncomingHttpHeaders): ChecksumAlgorithm | undefined =>
  namedAlgorithm(headers, 'x-amz-checksum-algorithm')

/** The checksum that CreateMultipartUpload asks for; undefined without one. Throws InvalidRequest. */
export function multipartChecksum(headers: IncomingHttpHeaders): MultipartChecksum | undefined {
  const algorithm = askedAlgorithm(headers)
  const type = checksumType(headers)
  if (algorithm === undefined) {
    if (type === undefined) return undefined
    throw storageFault(
      'InvalidRequest',
      'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.',
    )
  }
  const { types } = CHECKSUMS[algorithm]
  const [first] = types
  if (type === undefined) return { algorithm, type: first }
  if (types.includes(type)) return { algorithm, type }
  throw storageFault(
    'InvalidRequest',
    `The ${type} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
  )
}

/** x-amz-checksum-type, also of CompleteMultipartUpload. Throws InvalidRequest. */
export function checksumType(headers: IncomingHttpHeaders): ChecksumType | undefined {
  const text = headers['x-amz-checksum-type']
  if (text === undefined) return undefined
  const type = String(text).toUpperCase()
  if (type === 'FULL_OBJECT' || type === 'COMPOSITE') return type
  throw invalidValue('x-amz-checksum-type')
}

/** Content-MD5 as 16 bytes. Throws InvalidDigest. */
export function contentMd5(headers: IncomingHttpHeaders): Buffer | undefined {
  const text = headers['content-md5']
  if (text === undefined) return undefined
  const value = Buffer.from(String(text), 'base64')
  if (value.length === 16 && value.toString('base64') === text) return value
  throw storageFault('InvalidDigest', undefined, { 'Content-MD5': String(text) })
}
