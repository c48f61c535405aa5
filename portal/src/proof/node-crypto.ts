// node:crypto for the verifier, in the browser: SHA-256 and the check of an Ed25519 signature. Both are synchronous
// there, so they are not the browser's own.
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { Bytes } from './bytes.ts'

type PublicKey = { readonly raw: Uint8Array }

/** SHA-256 as text of one sign a byte. */
export const hash = (_algorithm: 'sha256', bytes: Uint8Array, _encoding: 'binary'): string =>
  Bytes.from(sha256(bytes)).toString('latin1')

/** The key of an Ed25519 SubjectPublicKeyInfo: its last 32 bytes. */
export const createPublicKey = ({ key }: { readonly key: Uint8Array }): PublicKey => ({
  raw: key.subarray(-32),
})

/** RFC 8032, as OpenSSL checks it. */
export const verify = (
  _algorithm: null,
  message: Uint8Array,
  { raw }: PublicKey,
  signature: Uint8Array,
): boolean => ed25519.verify(signature, message, raw, { zip215: false })
