// The keys of encrypted objects. Each body has a data key, stored beside it and wrapped by another key: the service's
// (SSE-S3), a named key (SSE-KMS, local names) or the client's (SSE-C). Wrapping is AES-256-GCM with the encryption
// of the object as additional data.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { invariant } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Json } from '#objects/types.ts'
import type { CustomerKey, Encryption } from './encryption.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The version of the derivation below, kept with each wrapped key. */
const VERSION = 1

/** A data key and its stored form. */
export type BodyKey = { readonly key: Buffer; readonly envelope: Json }

export interface Vault {
  /** True when SSE-KMS has a key of this name. */
  hasKey(keyId: string): boolean
  /** A new data key for one body. */
  create(encryption: Encryption, customerKey: CustomerKey | undefined): BodyKey
  /** The data key in an envelope. Throws InvalidRequest without the client's key, InternalError. */
  open(encryption: Encryption, envelope: Json, customerKey: CustomerKey | undefined): Buffer
  /** The same key, wrapped for another encryption. Throws what `open` does; neither is SSE-C. */
  move(from: Encryption, envelope: Json, to: Encryption): Json
  /**
   * The data key wrapped by the current version of its named key; undefined when the current version wrapped it
   * already.
   */
  rewrap(encryption: Encryption, envelope: Json): Json | undefined
}

/**
 * `secret` is the installation's; all keys are derived from it. `versionOf` is the current version of a named key.
 */
export function createVault(deps: {
  secret: string
  keyIds: readonly string[]
  versionOf: (keyId: string) => number
}): Vault {
  const { secret, keyIds, versionOf } = deps
  const derived = new Map<string, Buffer>()

  function wrapping(encryption: Encryption, by: Wrapping): Buffer {
    if (encryption.kind === 'SSE-C') {
      if (by.customerKey === undefined)
        throw storageFault('InvalidRequest', 'The object was stored with a key of the client')
      return by.customerKey.key
    }
    const name = encryption.kind === 'SSE-KMS' ? namedKey(encryption.keyId, by.version) : 's3'
    const known = derived.get(name)
    if (known !== undefined) return known
    const info = `ergon storage v${VERSION} ${name}`
    const key = Buffer.from(hkdfSync('sha256', secret, '', info, KEY_BYTES))
    derived.set(name, key)
    return key
  }

  function wrap(encryption: Encryption, key: Buffer, by: Wrapping): Json {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', wrapping(encryption, by), nonce)
    cipher.setAAD(boundTo(encryption))
    const wrapped = Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()])
    return {
      v: VERSION,
      key: wrapped.toString('base64'),
      ...(by.version === 1 ? {} : { keyVersion: by.version }),
    }
  }

  function open(encryption: Encryption, envelope: Json, customerKey?: CustomerKey): Buffer {
    const { wrapped, version } = parseEnvelope(envelope)
    const nonce = wrapped.subarray(0, NONCE_BYTES)
    const key = wrapping(encryption, { version, customerKey })
    const decipher = createDecipheriv('aes-256-gcm', key, nonce)
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
  }

  const currentOf = (encryption: Encryption) =>
    encryption.kind === 'SSE-KMS' ? versionOf(encryption.keyId) : 1

  return {
    hasKey: (keyId) => keyIds.includes(keyId),
    create(encryption, customerKey) {
      const key = randomBytes(KEY_BYTES)
      const by = { version: currentOf(encryption), customerKey }
      return { key, envelope: wrap(encryption, key, by) }
    },
    open,
    move: (from, envelope, to) =>
      wrap(to, open(from, envelope), { version: currentOf(to), customerKey: undefined }),
    rewrap(encryption, envelope) {
      const version = currentOf(encryption)
      if (encryption.kind !== 'SSE-KMS' || parseEnvelope(envelope).version >= version)
        return undefined
      return wrap(encryption, open(encryption, envelope), { version, customerKey: undefined })
    },
  }
}

type Wrapping = { readonly version: number; readonly customerKey: CustomerKey | undefined }

/** The input of the derivation of a named key; version 1 has no number, for compatibility. */
const namedKey = (keyId: string, version: number): string =>
  version === 1 ? `kms ${keyId}` : `kms ${keyId} ${version}`

function parseEnvelope(envelope: Json): { wrapped: Buffer; version: number } {
  invariant(
    typeof envelope === 'object' && envelope !== null && 'key' in envelope,
    'an encrypted body has a wrapped key',
  )
  const version = 'keyVersion' in envelope ? Number(envelope['keyVersion']) : 1
  return { wrapped: Buffer.from(String(envelope['key']), 'base64'), version }
}

function boundTo(encryption: Encryption): Buffer {
  const { kind } = encryption
  const more = kind === 'SSE-KMS' ? [encryption.keyId, encryption.context ?? ''] : []
  return Buffer.from(JSON.stringify([kind, ...more]))
}
