// The encryption of a body, as the store keeps it with a version. Three kinds: SSE-S3 (the service's key), SSE-KMS (a
// named key of the service), SSE-C (a key of the client, which is never stored).
import type { Json } from '#objects/types.ts'

export type Encryption =
  | { readonly kind: 'SSE-S3' }
  | { readonly kind: 'SSE-KMS'; readonly keyId: string; readonly context?: string }
  | { readonly kind: 'SSE-C'; readonly keyMd5: string }

/** A key that a client sends with a request: 32 bytes, and their MD5 in base64. */
export type CustomerKey = { readonly key: Buffer; readonly keyMd5: string }

/** The stored form: `envelope` is the wrapped key of a body in the row. */
export type KeptEncryption = Encryption & { readonly envelope?: Json }

/** The encryption of a stored version, without its wrapped key; undefined when the body is not encrypted. */
export function encryptionOf(kept: Json): Encryption | undefined {
  if (kept === null) return undefined
  const { envelope: _, ...encryption } = kept as unknown as KeptEncryption
  return encryption as Encryption
}

/** The stored form of an encryption. */
export const keptEncryption = (encryption: Encryption | undefined, envelope?: Json): Json =>
  encryption === undefined ? null : { ...encryption, ...(envelope ? { envelope } : {}) }
