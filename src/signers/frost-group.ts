// The group that signers compute in: Ed25519's prime-order subgroup with its scalars (RFC 9591 §6.1), by
// libsodium. The check that §3.1 asks of each received point takes 2.2 ms in JavaScript's bigints and
// 0.13 ms here; a checkpoint makes 24 of them, four times a second.
import { createHash } from 'node:crypto'
import sodium from 'libsodium-wrappers-sumo'
import { PUBLIC_KEY_BYTES } from '#tlog/checkpoint.ts'
import { SIGNERS } from './wire.ts'

// Its WebAssembly is compiled when the module is loaded (30 ms).
await sodium.ready

export const SCALAR_BYTES = 32
const CONTEXT = 'FROST-ED25519-SHA512-v1'

/** 32 bytes of an element that was checked or computed here. */
export type Point = Uint8Array
/** 32 bytes, little-endian, below the group's order. */
export type Scalar = Uint8Array
type HashedParts = readonly (Uint8Array | string)[]

export const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** Base64 of exactly that number of bytes. Throws RangeError: what comes from another process is not trusted. */
export function decode(value: unknown, length: number): Uint8Array<ArrayBuffer> {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  if (bytes.length !== length) throw new RangeError(`Could not read ${length} bytes of base64`)
  return Uint8Array.from(bytes)
}

/**
 * DeserializeElement (RFC 9591 §3.1) of 32 bytes. Throws RangeError unless they are canonical, on the
 * curve, of prime order and not the identity.
 */
export function toPoint(bytes: Uint8Array): Point {
  if (bytes.length !== PUBLIC_KEY_BYTES || !sodium.crypto_core_ed25519_is_valid_point(bytes))
    throw new RangeError('Could not read a point: not of the prime-order group')
  return bytes
}

/** The same of base64, as points are sent. */
export const readPoint = (encoded: unknown): Point => toPoint(decode(encoded, PUBLIC_KEY_BYTES))

/** DeserializeScalar (RFC 9591 §3.1) of 32 bytes. Throws RangeError unless it is below the order. */
export function toScalar(bytes: Uint8Array): Scalar {
  const wide = new Uint8Array(2 * SCALAR_BYTES)
  wide.set(bytes.subarray(0, SCALAR_BYTES))
  if (Buffer.compare(sodium.crypto_core_ed25519_scalar_reduce(wide), bytes) !== 0)
    throw new RangeError('Could not read a scalar: not below the order of the group')
  return bytes
}

/** A signer's number as a scalar. Throws RangeError for a value that is no number of a signer. */
export function toId(index: number): Scalar {
  if (!Number.isInteger(index) || index < 1 || index > SIGNERS)
    throw new RangeError(`Could not read the number of a signer: ${index}`)
  const scalar = new Uint8Array(SCALAR_BYTES)
  scalar[0] = index
  return scalar
}

/** SHA-512 with the context of the suite and a tag: H4 and H5 of RFC 9591 §6.1. */
export const hash = (tag: string, ...parts: HashedParts): Buffer => sha512([CONTEXT, tag, ...parts])

/** The same as a scalar: H1 and H3. */
export const hashToScalar = (tag: string, ...parts: HashedParts): Scalar =>
  sodium.crypto_core_ed25519_scalar_reduce(hash(tag, ...parts))

/** H2: without a context, as plain Ed25519 does (RFC 8032 §5.1.6). */
export const challengeOf = (commitment: Point, publicKey: Uint8Array, message: Uint8Array) =>
  sodium.crypto_core_ed25519_scalar_reduce(sha512([commitment, publicKey, message]))

function sha512(parts: HashedParts): Buffer {
  const sum = createHash('sha512')
  for (const part of parts) sum.update(part)
  return sum.digest()
}

export const randomScalar = (): Scalar => sodium.crypto_core_ed25519_scalar_random()
export const addScalars = (a: Scalar, b: Scalar): Scalar =>
  sodium.crypto_core_ed25519_scalar_add(a, b)
export const subtractScalars = (a: Scalar, b: Scalar): Scalar =>
  sodium.crypto_core_ed25519_scalar_sub(a, b)
export const multiply = (a: Scalar, b: Scalar): Scalar =>
  sodium.crypto_core_ed25519_scalar_mul(a, b)
export const invert = (scalar: Scalar): Scalar => sodium.crypto_core_ed25519_scalar_invert(scalar)
/** Throws RangeError where the sum is the identity, which is no element that may be sent. */
export const addPoints = (a: Point, b: Point): Point =>
  refusing(() => toPoint(sodium.crypto_core_ed25519_add(a, b)))
/** Throws RangeError for the scalar zero. */
export const multiplyPoint = (scalar: Scalar, point: Point): Point =>
  refusing(() => sodium.crypto_scalarmult_ed25519_noclamp(scalar, point))
/** Throws RangeError for the scalar zero. */
export const multiplyBase = (scalar: Scalar): Point =>
  refusing(() => sodium.crypto_scalarmult_ed25519_base_noclamp(scalar))

export const isSamePoint = (a: Point, b: Point): boolean => Buffer.compare(a, b) === 0
export const isZero = (scalar: Scalar): boolean => scalar.every((byte) => byte === 0)

/** The library's errors describe its input, so the sender is at fault. */
function refusing(work: () => Point): Point {
  try {
    return work()
  } catch (cause) {
    throw new RangeError('Could not compute a point: it is the identity', { cause })
  }
}
