// The settings of a bucket that are documents: read, stored as they were understood, printed. One row for
// each; what differs between them is data.
import { randomUUID } from 'node:crypto'
import { storageFault, type StorageCode } from '#contract/storage-errors.ts'
import type { Bucket, ConfigurationKind, Json } from '#objects/types.ts'
import { documentOf, privateAcl } from './bucket-view.ts'
import type { StorageHandler } from '#s3/call.ts'
import type { StorageDeps, StorageSettings } from '#s3/deps.ts'
import { parseCors, printCors, type Cors } from '#s3/cors/cors.ts'
import {
  BY_SERVICE,
  parseBucketEncryption,
  printBucketEncryption,
  type BucketEncryption,
} from '#s3/encryption/encryption.ts'
import { parseLifecycle, printLifecycle } from '#s3/lifecycle/lifecycle.ts'
import type { Lifecycle } from '#objects/lifecycle/rules.ts'
import {
  checkBucketAcl,
  parseOwnership,
  printOwnership,
  type Ownership,
} from '#s3/policy/ownership.ts'
import { parsePolicy, type Policy } from '#s3/policy/policy.ts'
import {
  checkPolicyBlocked,
  parsePublicAccessBlock,
  printPublicAccessBlock,
  type PublicAccessBlock,
} from '#s3/policy/public-access.ts'
import { parseTagging, printTagging } from '#s3/tagging/tagging.ts'
import type { Tags } from '#objects/types.ts'
import { parseWebsite, printWebsite, type Website } from '#s3/website/website.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { DOCUMENT_BYTES_MAX, XML_BYTES_MAX } from '#s3/xml/read.ts'

type Setting = {
  readonly kind: ConfigurationKind
  /** What a bucket without it answers to a read. */
  readonly absent: StorageCode
  /** Parses, and refuses what this bucket may not have. */
  readonly parse: (body: Buffer, bucket: Bucket) => unknown
  readonly print: (value: never) => string
  readonly contentType?: string
  /** Of the document as it is sent; DOCUMENT_BYTES_MAX where AWS names no limit. */
  readonly bytesMax?: number
  /** What a deletion leaves; nothing by default. */
  readonly initial?: (settings: StorageSettings) => Json | null
  /** Of a put; 200 but for the two that AWS answers with 204. */
  readonly putStatus?: number
}

const SETTINGS = {
  'bucket-cors': {
    kind: 'cors',
    absent: 'NoSuchCORSConfiguration',
    parse: parseCors,
    print: (value: Cors) => printCors(value),
    bytesMax: 64 * 1024,
  },
  'bucket-tagging': {
    kind: 'tagging',
    absent: 'NoSuchTagSet',
    parse: (body) => parseTagging(body, 'bucket'),
    print: (value: Tags) => printTagging(value),
    putStatus: 204,
  },
  'bucket-policy': {
    kind: 'policy',
    absent: 'NoSuchBucketPolicy',
    parse(body, bucket) {
      const policy = parsePolicy(body.toString('utf8'), bucket.name)
      checkPolicyBlocked(documentOf(bucket, 'public-access-block'), policy)
      return policy
    },
    print: (value: Policy) => value.text,
    contentType: 'application/json',
    putStatus: 204,
  },
  'public-access-block': {
    kind: 'public-access-block',
    absent: 'NoSuchPublicAccessBlockConfiguration',
    parse: parsePublicAccessBlock,
    print: (value: PublicAccessBlock) => printPublicAccessBlock(value),
  },
  'bucket-ownership-controls': {
    kind: 'ownership-controls',
    absent: 'OwnershipControlsNotFoundError',
    parse(body, bucket) {
      const ownership = parseOwnership(body)
      const acl = documentOf(bucket, 'acl') ?? privateAcl(bucket.account)
      checkBucketAcl(ownership, acl, bucket.account)
      return ownership
    },
    print: (value: Ownership) => printOwnership(value),
  },
  'bucket-encryption': {
    kind: 'encryption',
    absent: 'ServerSideEncryptionConfigurationNotFoundError',
    parse: parseBucketEncryption,
    print: (value: BucketEncryption) => printBucketEncryption(value),
    initial: ({ encrypts }) => (encrypts ? BY_SERVICE : null),
  },
  'bucket-website': {
    kind: 'website',
    absent: 'NoSuchWebsiteConfiguration',
    parse: parseWebsite,
    print: (value: Website) => printWebsite(value),
    bytesMax: 128 * 1024,
  },
} as const satisfies Record<string, Setting>

/** Its name in S3 has three forms that fit no pattern. */
const LIFECYCLE: Setting = {
  kind: 'lifecycle',
  absent: 'NoSuchLifecycleConfiguration',
  parse: (body) => parseLifecycle(body, randomUUID),
  print: (value: Lifecycle) => printLifecycle(value),
  // A thousand rules, each with an id and a prefix.
  bytesMax: XML_BYTES_MAX,
}

type SettingName = keyof typeof SETTINGS
type DocumentOperation = `${'get' | 'put' | 'delete'}-${SettingName}`

/** The handlers of all of them, by operation. */
export function createBucketDocuments(deps: StorageDeps) {
  const entries = Object.entries<Setting>(SETTINGS).flatMap(([name, setting]) => [
    [`get-${name}`, get(deps, setting)],
    [`put-${name}`, put(deps, setting)],
    [`delete-${name}`, remove(deps, setting)],
  ])
  return {
    ...(Object.fromEntries(entries) as Record<DocumentOperation, StorageHandler>),
    'get-bucket-lifecycle-configuration': get(deps, LIFECYCLE),
    'put-bucket-lifecycle-configuration': put(deps, LIFECYCLE),
    'delete-bucket-lifecycle': remove(deps, LIFECYCLE),
  }
}

const get =
  ({ access }: StorageDeps, { kind, absent, print, contentType }: Setting): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const value = bucket.configurations[kind]
    if (value === undefined || value === null)
      throw storageFault(absent, undefined, { BucketName: bucket.name })
    const text = print(value as never)
    return { ...xmlReply(text), ...(contentType === undefined ? {} : { contentType }) }
  }

const put =
  ({ access, buckets, receiver }: StorageDeps, setting: Setting): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const body = await receiver.document(request, setting.bytesMax ?? DOCUMENT_BYTES_MAX)
    await buckets.configure(bucket, setting.kind, setting.parse(body, bucket) as Json)
    return emptyReply({}, setting.putStatus ?? 200)
  }

const remove =
  ({ access, buckets, settings }: StorageDeps, { kind, initial }: Setting): StorageHandler =>
  async (request) => {
    await buckets.configure(await access.bucket(request), kind, initial?.(settings) ?? null)
    return emptyReply({}, 204)
  }
