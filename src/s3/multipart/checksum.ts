// ETags and checksums of objects that consist of parts.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { invariant, type ErgonError } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { UploadPart } from '#objects/types.ts'
import { sizeHeader } from '#s3/objects/conditions.ts'
import type { ChecksumText } from './multipart-xml.ts'
import {
  ALGORITHMS,
  CHECKSUMS,
  type ChecksumAlgorithm,
  type ChecksumType,
  type Hashers,
} from '#s3/checksums/algorithms.ts'
import { combineChecksums, isCombinable, type PartChecksum } from '#s3/checksums/combine.ts'
import { checksumType, parseChecksum, type MultipartChecksum } from '#s3/checksums/request.ts'

/** The ETag of an object of parts, without quotes: the MD5 of the parts' MD5s, a dash, the number of parts. */
export function multipartETag(md5s: readonly Buffer[]): string {
  const joined = createHash('md5')
  for (const md5 of md5s) joined.update(md5)
  return `${joined.digest('hex')}-${md5s.length}`
}

/** The checksum of an object made of parts as S3 prints it; a composite one ends in `-<parts>`. */
export async function multipartChecksumText(
  hashers: Hashers,
  { algorithm, type }: MultipartChecksum,
  parts: readonly PartChecksum[],
): Promise<string> {
  if (type === 'FULL_OBJECT') {
    invariant(isCombinable(algorithm), `No full-object checksum of parts by ${algorithm}`)
    return combineChecksums(algorithm, parts).toString('base64')
  }
  const hasher = await hashers.open(algorithm)
  for (const { digest } of parts) hasher.update(digest)
  return `${hasher.digest().toString('base64')}-${parts.length}`
}

/**
 * Checks size and checksum type in CompleteMultipartUpload. Throws InvalidRequest (another size), BadDigest (another
 * type of checksum, as at AWS), InvalidArgument.
 */
export function checkCompletion(
  headers: IncomingHttpHeaders,
  { size, type }: { readonly size: number; readonly type: ChecksumType | undefined },
): void {
  const saidSize = sizeHeader(headers, 'x-amz-mp-object-size')
  if (saidSize !== undefined && saidSize !== size)
    throw storageFault(
      'InvalidRequest',
      `The parts have ${size} bytes together, and x-amz-mp-object-size says ${saidSize}`,
    )
  const saidType = checksumType(headers)
  if (saidType !== undefined && saidType !== type)
    throw storageFault(
      'BadDigest',
      `The checksum of the upload is ${type ?? 'none'}, and x-amz-checksum-type says ${saidType}`,
    )
}

/** InvalidRequest in AWS's words: an upload has one algorithm, set at its creation. */
export const otherAlgorithm = (asked: ChecksumAlgorithm, given: ChecksumAlgorithm): ErgonError =>
  storageFault(
    'InvalidRequest',
    `Checksum Type mismatch occurred, expected checksum Type: ${asked.toLowerCase()}, actual checksum Type: ${given.toLowerCase()}`,
  )

/** Throws InvalidRequest when a completion has a checksum of another algorithm than its upload. */
export function checkAlgorithm(headers: IncomingHttpHeaders, asked: ChecksumAlgorithm): void {
  const other = ALGORITHMS.find(
    (name) => name !== asked && headers[CHECKSUMS[name].header] !== undefined,
  )
  if (other !== undefined) throw otherAlgorithm(asked, other)
}

/** Throws InvalidRequest when a completion leaves out the checksum of a part that a composite checksum needs. */
export function checkComposite(
  { algorithm, type }: MultipartChecksum,
  listed: readonly { readonly number: number; readonly checksum: ChecksumText | undefined }[],
): void {
  const silent = type === 'COMPOSITE' && listed.find(({ checksum }) => checksum === undefined)
  if (!silent) return
  throw storageFault(
    'InvalidRequest',
    `The upload was created using a ${algorithm.toLowerCase()} checksum. The complete request must include the checksum for each part. It was missing for part ${silent.number} in the request.`,
  )
}

/** Checks the checksum of a part in a completion. Throws InvalidPart, and BadDigest for another algorithm. */
export function checkPartChecksum(
  part: Pick<UploadPart, 'number' | 'checksums'>,
  given: ChecksumText | undefined,
  algorithm: ChecksumAlgorithm | undefined,
): void {
  if (given === undefined || part.checksums[given.algorithm] === given.text) return
  if (given.algorithm === algorithm) throw storageFault('InvalidPart')
  throw storageFault(
    'BadDigest',
    `The ${given.algorithm.toLowerCase()} you specified for part ${part.number} did not match what we received.`,
  )
}

/**
 * Checks the checksum of the object in CompleteMultipartUpload: base64, with or without the `-<parts>` of a composite
 * one. Throws BadDigest, InvalidRequest.
 */
export function checkMultipartChecksum(
  algorithm: ChecksumAlgorithm,
  given: string,
  ours: string,
): void {
  parseChecksum(algorithm, given.replace(/-\d+$/, ''))
  if (given === ours || given === ours.replace(/-\d+$/, '')) return
  throw storageFault(
    'BadDigest',
    `The ${algorithm.toLowerCase()} you specified did not match the calculated checksum.`,
  )
}
