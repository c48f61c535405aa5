// The CRC of two parts joined, from the CRCs of the parts alone: crc(a‖b) = crc(a)·x^(8·|b|) + crc(b)
// over GF(2), as zlib's crc32_combine does it, for 32 and 64 bits.
import type { ChecksumAlgorithm } from './algorithms.ts'

type Field = { readonly bits: bigint; readonly polynomial: bigint }

/** Reflected polynomials. */
const FIELDS = {
  CRC32: { bits: 32n, polynomial: 0xedb88320n },
  CRC32C: { bits: 32n, polynomial: 0x82f63b78n },
  CRC64NVME: { bits: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
} as const satisfies Partial<Record<ChecksumAlgorithm, Field>>

export type CombinableAlgorithm = keyof typeof FIELDS

export const isCombinable = (algorithm: ChecksumAlgorithm): algorithm is CombinableAlgorithm =>
  Object.hasOwn(FIELDS, algorithm)

export type PartChecksum = { readonly digest: Buffer; readonly size: number }

/** The checksum of all bytes of the parts in order. Parts of equal size share their power of x. */
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
    total = multiply(field, total, power) ^ BigInt(`0x${digest.toString('hex')}`)
  }
  const bytes = Number(field.bits / 8n)
  return Buffer.from(total.toString(16).padStart(bytes * 2, '0'), 'hex')
}

/** Product of two polynomials modulo the field's; the highest bit is x⁰, because they are reflected. */
function multiply({ bits, polynomial }: Field, a: bigint, b: bigint): bigint {
  let product = 0n
  let shifted = b
  for (let bit = bits - 1n; bit >= 0n; bit--) {
    if ((a >> bit) & 1n) product ^= shifted
    shifted = shifted & 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n
  }
  return product
}

function powerOfX(field: Field, exponent: bigint): bigint {
  let result = 1n << (field.bits - 1n)
  let square = 1n << (field.bits - 2n)
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = multiply(field, result, square)
    square = multiply(field, square, square)
  }
  return result
}
