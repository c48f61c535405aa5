// CRCs as polynomials over GF(2), for combine.ts and for the tables of crc64.ts.

export type Field = { readonly bits: bigint; readonly polynomial: bigint }

/** Reflected polynomials. */
export const FIELDS = {
  CRC32: { bits: 32n, polynomial: 0xedb88320n },
  CRC32C: { bits: 32n, polynomial: 0x82f63b78n },
  CRC64NVME: { bits: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
} as const satisfies Record<string, Field>

/** Product of two polynomials modulo the field's; the highest bit is x⁰, because they are reflected. */
export function multiplyModulo({ bits, polynomial }: Field, a: bigint, b: bigint): bigint {
  let product = 0n
  let shifted = b
  for (let bit = bits - 1n; bit >= 0n; bit--) {
    if ((a >> bit) & 1n) product ^= shifted
    shifted = shifted & 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n
  }
  return product
}

/** x to the power of `exponent`, modulo the field's polynomial. */
export function powerOfX(field: Field, exponent: bigint): bigint {
  let result = 1n << (field.bits - 1n)
  let square = 1n << (field.bits - 2n)
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = multiplyModulo(field, result, square)
    square = multiplyModulo(field, square, square)
  }
  return result
}
