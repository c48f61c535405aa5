// The keys of encrypted objects. Each body has a data key of its own, kept with it, wrapped by a key that
// is not: the service's (SSE-S3), a named one (SSE-KMS, local names), or the client's (SSE-C). Wrapping is
// AES-256-GCM; what the object says of its encryption is bound to it.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { invariant } from '#base/errors.ts'
import { storageFault } from '#storage/errors.ts'
import type { Json } from '#storage/objects/types.ts'
import type { CustomerKey, Encryption } from '#storage/s3/documents/encryption.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Of the derivation below; kept with each wrapped key, for when there is another. */
const VERSION = 1

/** A data key, and how it is kept. */
export type BodyKey = { readonly key: Buffer; readonly envelope: Json }

export interface Vault {
  /** Whether there is a key of this name for SSE-KMS. */
  hasKey(keyId: string): boolean
  /** A new data key for one body. */
  create(encryption: Encryption, customerKey: CustomerKey | undefined): BodyKey
  /** The data key in an envelope. Throws InvalidRequest without the client's key, InternalError. */
  open(encryption: Encryption, envelope: Json, customerKey: CustomerKey | undefined): Buffer
}

/** `secret` is the installation's; all its keys follow from it. */
export function createVault(deps: { secret: string; keyIds: readonly string[] }): Vault {
  const { secret, keyIds } = deps
  const derived = new Map<string, Buffer>()

  function wrapping(encryption: Encryption, customerKey: CustomerKey | undefined): Buffer {
    if (encryption.kind === 'SSE-C') {
      if (customerKey === undefined)
        throw storageFault('InvalidRequest', 'The object was stored with a key of the client')
      return customerKey.key
    }
    const name = encryption.kind === 'SSE-KMS' ? `kms ${encryption.keyId}` : 's3'
    const known = derived.get(name)
    if (known !== undefined) return known
    const info = `ergon storage v${VERSION} ${name}`
    const key = Buffer.from(hkdfSync('sha256', secret, '', info, KEY_BYTES))
    derived.set(name, key)
    return key
  }

  return {
    hasKey: (keyId) => keyIds.includes(keyId),
    create(encryption, customerKey) {
      const key = randomBytes(KEY_BYTES)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', wrapping(encryption, customerKey), nonce)
      cipher.setAAD(boundTo(encryption))
      const wrapped = Buffer.concat([
        nonce,
        cipher.update(key),
        cipher.final(),
        cipher.getAuthTag(),
      ])
      return { key, envelope: { v: VERSION, key: wrapped.toString('base64') } }
    },
    open(encryption, envelope, customerKey) {
      invariant(
        typeof envelope === 'object' && envelope !== null && 'key' in envelope,
        'an encrypted body has a wrapped key',
      )
      const wrapped = Buffer.from(String(envelope['key']), 'base64')
      const nonce = wrapped.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', wrapping(encryption, customerKey), nonce)
      decipher.setAAD(boundTo(encryption))
      decipher.setAuthTag(wrapped.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([
          decipher.update(wrapped.subarray(NONCE_BYTES, -TAG_BYTES)),
          decipher.final(),
        ])
      } catch {
        throw storageFault('InternalError', 'The key of the object cannot be unwrapped')
      }
    },
  }
}

function boundTo(encryption: Encryption): Buffer {
  const { kind } = encryption
  const more = kind === 'SSE-KMS' ? [encryption.keyId, encryption.context ?? ''] : []
  return Buffer.from(JSON.stringify([kind, ...more]))
}
