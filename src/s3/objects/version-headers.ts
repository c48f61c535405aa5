// The headers of GET and HEAD that describe a version.
import type { Bucket, JsonObject, Version } from '#objects/types.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import { ALGORITHMS, CHECKSUMS, type ChecksumAlgorithm } from '#s3/checksums/algorithms.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { encryptionOf } from '#objects/encryption/encryption.ts'
import { nextExpiry, type LifecycleSubject } from '#objects/lifecycle/due.ts'
import { lockHeaders } from '#s3/lock/object-lock.ts'
import { replyHeaders, type SystemHeaders } from './headers.ts'

type Headers = Record<string, string>

/** Facts that GET and HEAD return only to callers with the permission to read them. */
export type Aside = 'Tagging' | 'Retention' | 'LegalHold'

/** `withChecksums`: the caller sent `x-amz-checksum-mode: ENABLED`. */
export function versionHeaders(
  bucket: Bucket,
  version: Version,
  { withChecksums, mayRead }: { withChecksums: boolean; mayRead: (aside: Aside) => boolean },
): Headers {
  const tagCount = Object.keys(version.tags).length
  const { retention, legalHold } = version
  return {
    'accept-ranges': 'bytes',
    ...replyHeaders({
      system: version.headers as unknown as SystemHeaders,
      metadata: version.metadata,
    }),
    etag: `"${version.etag}"`,
    'last-modified': new Date(version.modifiedAtMs).toUTCString(),
    ...versionIdHeader(bucket, version.versionId),
    ...(withChecksums ? checksumHeaders(version.checksums) : {}),
    ...(tagCount > 0 && mayRead('Tagging') ? { 'x-amz-tagging-count': String(tagCount) } : {}),
    ...(version.storageClass === 'STANDARD' ? {} : { 'x-amz-storage-class': version.storageClass }),
    ...encryptionHeaders(encryptionOf(version.encryption)),
    ...lockHeaders(
      retention !== null && mayRead('Retention') ? retention : null,
      (legalHold && mayRead('LegalHold')) || undefined,
    ),
    ...(version.isLatest ? expiryHeader(bucket, version) : {}),
    // Stored pages must not run scripts with the origin of the API; as pages of a website they may.
    'content-security-policy': 'sandbox',
  }
}

/** When a lifecycle rule will delete the latest version. */
export function expiryHeader(
  bucket: Bucket,
  object: LifecycleSubject & { readonly modifiedAtMs: number },
): Headers {
  const expiry = nextExpiry(documentOf(bucket, 'lifecycle'), object)
  if (expiry === undefined) return {}
  const date = new Date(expiry.atMs).toUTCString()
  return {
    'x-amz-expiration': `expiry-date="${date}", rule-id="${encodeURIComponent(expiry.ruleId)}"`,
  }
}

/** A bucket without versioning has no version ids in its replies. */
export const versionIdHeader = (bucket: Bucket, versionId: string): Headers =>
  bucket.versioning === 'off' ? {} : { 'x-amz-version-id': versionId }

/** Writes return an id only while versioning is enabled. */
export const writtenVersionHeader = (bucket: Bucket, versionId: string): Headers =>
  bucket.versioning === 'enabled' ? { 'x-amz-version-id': versionId } : {}

export type KnownChecksum = {
  readonly algorithm: ChecksumAlgorithm
  readonly text: string
  readonly type: string
}

/** The checksum of a version: the algorithm's name → base64, `type` → its type. */
export function checksumOfVersion(checksums: JsonObject): KnownChecksum | undefined {
  const algorithm = ALGORITHMS.find((name) => typeof checksums[name] === 'string')
  if (algorithm === undefined) return undefined
  return { algorithm, text: String(checksums[algorithm]), type: String(checksums['type']) }
}

/** The checksum of a part has no type. */
export function checksumHeaders(checksums: JsonObject, { ofPart = false } = {}): Headers {
  const known = checksumOfVersion(checksums)
  if (known === undefined) return {}
  return {
    [CHECKSUMS[known.algorithm].header]: known.text,
    ...(ofPart ? {} : { 'x-amz-checksum-type': known.type }),
  }
}
