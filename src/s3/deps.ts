// What the operations of the S3 door work with.
import type { Clock } from '#base/clock.ts'
import type { Verifier } from './authentication/verify.ts'
import type { BlobReader } from '#objects/blob-reader.ts'
import type { Events } from '#objects/create-events.ts'
import type { Annotations, Buckets, Listings, Objects, Uploads } from '#objects/objects.ts'
import type { Bucket } from '#objects/types.ts'
import type { Access } from './policy/judge.ts'
import type { AdmitTransfer } from './body/admit-transfer.ts'
import type { Callers } from './authentication/callers.ts'
import type { Hashers } from './checksums/algorithms.ts'
import type { Owner } from './listing/entries.ts'
import type { WrittenAttributes } from './objects/written-attributes.ts'
import type { Encrypting } from './encryption/encrypting.ts'
import type { Directory } from './policy/acl-drafts.ts'
import type { StorageRequest } from './call.ts'
import type { Receiver } from './body/receive.ts'

export type StorageDeps = {
  readonly access: Access
  readonly buckets: Buckets
  readonly objects: Objects
  readonly annotations: Annotations
  readonly events: Events
  readonly listings: Listings
  readonly uploads: Uploads
  readonly receiver: Receiver
  readonly hashers: Hashers
  readonly admitTransfer: AdmitTransfer
  /** What a write says of an object beside its bytes (written-attributes.ts). */
  readonly attributesOf: (request: StorageRequest, bucket: Bucket) => Promise<WrittenAttributes>
  readonly directory: Directory
  readonly callers: Callers
  readonly verifier: Verifier
  readonly encrypting: Encrypting
  readonly clock: Clock
  readonly blobs: BlobReader
  /** How an account appears as an owner. */
  readonly ownerOf: (account: string) => Owner
  readonly settings: StorageSettings
}

export type StorageSettings = {
  /** Where buckets are that name no other place. */
  readonly region: string
  /** Buckets that an account may have. */
  readonly bucketsMax: number
  /** Names of keys for SSE-KMS. */
  readonly keyIds: readonly string[]
  /** Of new buckets: whether ACLs count (AWS: no, since April 2023). */
  readonly acls: boolean
  /** Of new buckets: whether they encrypt what asks for nothing (AWS: yes, since January 2023). */
  readonly encrypts: boolean
  /** Proxies whose word counts on who asked: addresses and networks. */
  readonly trustedProxies: readonly string[]
  readonly website: {
    /** `<bucket>.<host>` is the bucket's website; lower case, without ports. */
    readonly hosts: readonly string[]
    /** How visitors reach them. */
    readonly protocol: 'http' | 'https'
  }
}
