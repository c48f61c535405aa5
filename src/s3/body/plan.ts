// The plan for reading a request's body, from its headers.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { CHECKSUMS } from '#s3/checksums/algorithms.ts'
import { contentMd5, requestChecksum, type RequestChecksum } from '#s3/checksums/request.ts'
import type { Seed } from '#s3/authentication/verify.ts'

/** AWS: the most bytes of one PUT or one part, 5 GiB. */
export const UPLOAD_BYTES_MAX = 5 * 1024 ** 3

export type Framing = {
  /** Present when each chunk is signed. */
  readonly seed: Seed | undefined
  /** The name in the header x-amz-trailer, in lower case. */
  readonly trailer: string | undefined
  readonly signedTrailer: boolean
}

export type BodyPlan = {
  /** The decoded length; undefined with `Transfer-Encoding: chunked` alone. */
  readonly length: number | undefined
  readonly bytesMax: number
  /** Absent for a body without framing. */
  readonly framing: Framing | undefined
  /** The signed hash of the body, in hex. */
  readonly sha256: string | undefined
  readonly md5: Buffer | undefined
  readonly checksum: RequestChecksum | undefined
}

const SIGNED = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
const SIGNED_TRAILER = `${SIGNED}-TRAILER`
const UNSIGNED_TRAILER = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'

/**
 * The plan of a body. `payload` is the payload that the signature covers (Verified.payload), or the header
 * x-amz-content-sha256 of an unsigned request. That value alone identifies aws-chunked, because minio-go sends no
 * Content-Encoding. Throws MissingContentLength, EntityTooLarge, InvalidArgument, InvalidRequest, InvalidDigest,
 * NotImplemented, MalformedTrailerError.
 */
export function planBody(
  headers: IncomingHttpHeaders,
  signed: { readonly payload: string | undefined; readonly seed: Seed | undefined },
  bytesMax: number = UPLOAD_BYTES_MAX,
): BodyPlan {
  const payload = signed.payload ?? 'UNSIGNED-PAYLOAD'
  const framing = framingOf(payload, headers, signed.seed)
  const length = lengthOf(headers, framing === undefined ? 'content-length' : DECODED)
  if (length !== undefined && length > bytesMax) throw tooLarge(length, bytesMax)
  const checksum = requestChecksum(headers)
  if (headers['x-amz-trailer'] !== undefined && framing?.trailer === undefined)
    throw storageFault('MalformedTrailerError')
  const sha256 = /^[0-9a-f]{64}$/i.test(payload) ? payload.toLowerCase() : undefined
  return { length, bytesMax, framing, sha256, md5: contentMd5(headers), checksum }
}

export const tooLarge = (length: number, bytesMax: number) =>
  storageFault('EntityTooLarge', undefined, { ProposedSize: length, MaxSizeAllowed: bytesMax })

const DECODED = 'x-amz-decoded-content-length'

function lengthOf(headers: IncomingHttpHeaders, name: string): number | undefined {
  const text = headers[name]
  // Bodies without a length end with their last HTTP chunk. AWS requires a length; the public suite sends such
  // bodies.
  if (text === undefined && name !== DECODED && headers['transfer-encoding'] !== undefined)
    return undefined
  if (text === undefined) throw storageFault('MissingContentLength')
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw storageFault('InvalidArgument', `The header ${name} is not a length`, {
      ArgumentName: name,
      ArgumentValue: String(text),
    })
  return Number(text)
}

function framingOf(
  payload: string,
  headers: IncomingHttpHeaders,
  seed: Seed | undefined,
): Framing | undefined {
  if (payload === 'UNSIGNED-PAYLOAD' || /^[0-9a-f]{64}$/i.test(payload)) return undefined
  if (payload.startsWith('STREAMING-AWS4-ECDSA'))
    throw storageFault('NotImplemented', 'Signature version 4A is not implemented')
  if (payload === UNSIGNED_TRAILER)
    return { seed: undefined, trailer: trailerOf(headers), signedTrailer: false }
  if (payload !== SIGNED && payload !== SIGNED_TRAILER)
    throw storageFault(
      'InvalidArgument',
      'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value.',
      { ArgumentName: 'x-amz-content-sha256', ArgumentValue: payload },
    )
  if (seed === undefined)
    throw storageFault(
      'InvalidRequest',
      `A body in the mode ${payload} needs a request with a signature of version 4`,
    )
  if (payload === SIGNED) return { seed, trailer: undefined, signedTrailer: false }
  return { seed, trailer: trailerOf(headers), signedTrailer: true }
}

function trailerOf(headers: IncomingHttpHeaders): string | undefined {
  const name = headers['x-amz-trailer']
  if (name === undefined) return undefined
  const lower = String(name).trim().toLowerCase()
  return Object.values(CHECKSUMS).some(({ header }) => header === lower) ? lower : undefined
}
