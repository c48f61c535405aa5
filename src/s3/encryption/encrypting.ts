// The encryption of requests: of new bodies, and for reading stored ones.
import type { Bucket, Json, Seals, Sheet, Version } from '#objects/types.ts'
import type { ReadOptions } from '#objects/blob-reader.ts'
import {
  encryptionOf,
  type CustomerKey,
  type Encryption,
  type KeptEncryption,
} from '#objects/encryption/encryption.ts'
import { resealed } from '#objects/encryption/seals.ts'
import type { BodyKey, Vault } from '#objects/encryption/vault.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import type { StorageRequest } from '#s3/call.ts'
import {
  checkCustomerKey,
  encryptionOfWrite,
  parseCustomerKey,
  parseObjectEncryption,
} from './encryption.ts'

/** The encryption of a new body, with the client's key for SSE-C. */
export type Sealing = { readonly encryption: Encryption; readonly customerKey?: CustomerKey }

export interface Encrypting {
  /**
   * The encryption of a write: of the request, otherwise the bucket's default. Throws what encryptionOfWrite throws.
   */
  wanted(request: StorageRequest, bucket: Bucket): Sealing | undefined
  /** The bucket's default encryption. */
  byDefault(bucket: Bucket): Sealing | undefined
  /** The encryption of an upload's parts. Throws InvalidRequest (a wrong or missing key). */
  ofUpload(request: StorageRequest, encryption: Json): Sealing | undefined
  /** A data key for a new body. */
  keyFor(sealing: Sealing | undefined): BodyKey | undefined
  /**
   * The encryption of a version's annotations, and the root of their keys with its envelope. SSE-S3 when the body is
   * not encrypted. Throws InvalidRequest for SSE-C, as AWS does.
   */
  ofAnnotations(version: Version): { encryption: Encryption; root: BodyKey }
  /** The root of a version's annotations, wrapped for a copy of it. Throws InvalidRequest for SSE-C. */
  rootForCopy(version: Version, sheet: Sheet, sealing: Sealing | undefined): Json
  /**
   * The seals of a version with its keys wrapped by the named key in the document. Throws MalformedXML,
   * InvalidRequest (not encrypted, SSE-C), KMS.NotFoundException.
   */
  updated(seals: Seals, document: Buffer): Seals
  /** The cipher for reading a version. Throws InvalidRequest for a wrong or missing key. */
  reading(
    request: StorageRequest,
    version: Version,
    of?: 'request' | 'copy-source',
  ): Pick<ReadOptions, 'cipher'>
}

/** Annotations are always encrypted, and never with a client's key. Throws InvalidRequest. */
function ofNotes(encryption: Encryption | undefined): Encryption {
  if (encryption?.kind === 'SSE-C')
    throw storageFault('InvalidRequest', 'Objects encrypted with SSE-C cannot have annotations.')
  return encryption ?? { kind: 'SSE-S3' }
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/

export function createEncrypting(vault: Vault): Encrypting {
  // A key must not cross a network unencrypted; loopback is no network.
  const policyOf = ({ body: { client } }: StorageRequest) => ({
    hasKey: (keyId: string) => vault.hasKey(keyId),
    mayCarryKeys: client.isSecure || LOOPBACK.test(client.address),
  })
  return {
    wanted: (request, bucket) =>
      encryptionOfWrite(request.body.headers, documentOf(bucket, 'encryption'), policyOf(request)),
    byDefault: (bucket) =>
      encryptionOfWrite({}, documentOf(bucket, 'encryption'), {
        hasKey: (keyId) => vault.hasKey(keyId),
        mayCarryKeys: false,
      }),
    ofUpload(request, kept) {
      const encryption = encryptionOf(kept)
      const customerKey = parseCustomerKey(request.body.headers, policyOf(request))
      checkCustomerKey(encryption, customerKey)
      return encryption && { encryption, ...(customerKey && { customerKey }) }
    },
    ofAnnotations({ annotations, encryption: kept }) {
      const encryption = ofNotes(encryptionOf(kept))
      if (annotations === null) return { encryption, root: vault.create(encryption, undefined) }
      const key = vault.open(encryption, annotations.key, undefined)
      return { encryption, root: { key, envelope: annotations.key } }
    },
    rootForCopy: ({ encryption }, { key }, sealing) =>
      vault.move(ofNotes(encryptionOf(encryption)), key, ofNotes(sealing?.encryption)),
    updated(seals, document) {
      const keyId = parseObjectEncryption(document, { hasKey: (name) => vault.hasKey(name) })
      const from = encryptionOf(seals.encryption)
      if (from === undefined || from.kind === 'SSE-C')
        throw storageFault(
          'InvalidRequest',
          'Only source objects encrypted with SSE-S3 or SSE-KMS are supported.',
        )
      const context = from.kind === 'SSE-KMS' ? from.context : undefined
      const to = { kind: 'SSE-KMS', keyId, ...(context === undefined ? {} : { context }) } as const
      return resealed(seals, to, (envelope) => vault.move(from, envelope, to))
    },
    keyFor: (sealing) => sealing && vault.create(sealing.encryption, sealing.customerKey),
    reading(request, version, of = 'request') {
      const encryption = encryptionOf(version.encryption)
      const customerKey = parseCustomerKey(request.body.headers, policyOf(request), of)
      checkCustomerKey(encryption, customerKey)
      if (encryption === undefined) return {}
      const { envelope = null } = version.encryption as unknown as KeptEncryption
      return {
        cipher: { envelope, open: (wrapped) => vault.open(encryption, wrapped, customerKey) },
      }
    },
  }
}
