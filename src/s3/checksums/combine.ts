// The CRC of joined parts, from the parts' CRCs: crc(a‖b) = crc(a)·x^(8·|b|) + crc(b) over GF(2), like zlib's
// crc32_combine, for 32 and 64 bits.
import type { ChecksumAlgorithm } from './algorithms.ts'
import { FIELDS, multiplyModulo, powerOfX } from './crc-fields.ts'

export type CombinableAlgorithm = keyof typeof FIELDS

export const isCombinable = (algorithm: ChecksumAlgorithm): algorithm is CombinableAlgorithm =>
  Object.hasOwn(FIELDS, algorithm)

export type PartChecksum = { readonly digest: Buffer; readonly size: number }

/** The checksum of all parts in order. Parts of equal size share their power of x. */
export function combineChecksums(
  algorithm: CombinableAlgorithm,
  parts: readonly PartChecksum[],
): Buffer {
  const field = FIELDS[algorithm]
  const powers = new Map<number, bigint>()
  let total = 0n
  for (const { digest, size } of parts) {
    const power = powers.get(size) ?? powerOfX(field, BigInt(size) * 8n)
    powers.set(size, power)
    total = multiplyModulo(field, total, power) ^ BigInt(`0x${digest.toString('hex')}`)
  }
  const bytes = Number(field.bits / 8n)
  return Buffer.from(total.toString(16).padStart(bytes * 2, '0'), 'hex')
}
