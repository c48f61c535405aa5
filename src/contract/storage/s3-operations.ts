// Every operation of the S3 protocol, once: how a request names the operation, its action in policies, the scope that
// a token needs, and how the service answers. Routing, policies, scopes, handlers and the reference page read this
// table; a test compares it with every command of the AWS SDK.
import type { Operation } from '#contract/operation.ts'
import type { StorageCode } from './storage-errors.ts'

export type OperationLevel = 'service' | 'bucket' | 'object' | 'website'
type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS'

/** A further condition, where two operations share method, level and subresource (s3/match.ts). */
export type OperationCondition = 'copy-source' | 'form' | 'id' | 'name' | 'directory' | 'lambda'

/**
 * Effect of the operation on storage. 'store': adds bytes, so the account must be able to pay for them. 'write': adds
 * or changes rows, so the disk must have space. 'free': removes something, so the operation always runs.
 */
type Effect = 'none' | 'read' | 'free' | 'write' | 'store'

export type S3Operation = {
  readonly method: Method
  readonly level: OperationLevel
  /** The query parameter that names the operation. */
  readonly subresource: string | null
  readonly when?: OperationCondition
  /** Its name in policies, without `s3:`; null for preflights, which no policy allows or denies. */
  readonly action: string | null
  /** With a version id in the request its name in policies is `…ObjectVersion…`. */
  readonly isVersioned?: true
  /** A version id in the request is refused: the operation is about no existing version. */
  readonly refusesVersionId?: true
  readonly effect: Effect
  /** The scope that a token needs; null: the request has no token. */
  readonly scope: 'read' | 'deploy' | null
  /** 'served': a handler answers. 'empty': 200 with an empty list. Otherwise the error of every answer. */
  readonly answer: 'served' | 'empty' | StorageCode
}

export type ServedOperation = keyof typeof SERVED
export type S3OperationName = ServedOperation | keyof typeof FIXED

type More = Partial<
  Pick<S3Operation, 'when' | 'isVersioned' | 'refusesVersionId' | 'effect' | 'answer'>
>

const SCOPES = {
  none: null,
  read: 'read',
  free: 'deploy',
  write: 'deploy',
  store: 'deploy',
} as const

const row =
  (level: OperationLevel, method: Method, effect: Effect) =>
  (subresource: string | null, action: string | null, more: More = {}): S3Operation => ({
    method,
    level,
    subresource,
    action,
    effect,
    scope: SCOPES[effect],
    answer: 'served',
    ...more,
  })

const at = (level: OperationLevel) => ({
  get: row(level, 'GET', 'read'),
  head: row(level, 'HEAD', 'read'),
  put: row(level, 'PUT', 'write'),
  post: row(level, 'POST', 'write'),
  delete: row(level, 'DELETE', 'free'),
  options: row(level, 'OPTIONS', 'none'),
})

const service = at('service')
const bucket = at('bucket')
const object = at('object')
const website = at('website')

/** Rows that are not served: NotImplemented, where they name no other answer. */
const refused = <Name extends string>(rows: Record<Name, S3Operation>): typeof rows => {
  for (const name in rows)
    if (rows[name].answer === 'served') rows[name] = { ...rows[name], answer: 'NotImplemented' }
  return rows
}

const VERSIONED = { isVersioned: true } as const
const UNVERSIONED = { refusesVersionId: true } as const
const NEW_OBJECT = { ...UNVERSIONED, effect: 'store' } as const

const SERVED = {
  // Buckets
  'list-buckets': service.get(null, 'ListAllMyBuckets'),
  'create-bucket': bucket.put(null, 'CreateBucket'),
  'head-bucket': bucket.head(null, 'ListBucket'),
  'delete-bucket': bucket.delete(null, 'DeleteBucket'),
  'get-bucket-location': bucket.get('location', 'GetBucketLocation'),
  // Listing
  'list-objects': bucket.get(null, 'ListBucket'),
  'list-objects-v2': bucket.get('list-type', 'ListBucket'),
  'list-object-versions': bucket.get('versions', 'ListBucketVersions'),
  'list-multipart-uploads': bucket.get('uploads', 'ListBucketMultipartUploads'),
  // Objects
  'get-object': object.get(null, 'GetObject', VERSIONED),
  'head-object': object.head(null, 'GetObject', VERSIONED),
  'put-object': object.put(null, 'PutObject', NEW_OBJECT),
  'copy-object': object.put(null, 'PutObject', { ...NEW_OBJECT, when: 'copy-source' }),
  'post-object': bucket.post(null, 'PutObject', { ...NEW_OBJECT, when: 'form' }),
  'delete-object': object.delete(null, 'DeleteObject', VERSIONED),
  'delete-objects': bucket.post('delete', 'DeleteObject', { effect: 'free', ...UNVERSIONED }),
  'get-object-attributes': object.get('attributes', 'GetObjectAttributes', VERSIONED),
  // Multipart
  'create-multipart-upload': object.post('uploads', 'PutObject', NEW_OBJECT),
  'upload-part': object.put('uploadId', 'PutObject', NEW_OBJECT),
  'upload-part-copy': object.put('uploadId', 'PutObject', { ...NEW_OBJECT, when: 'copy-source' }),
  'complete-multipart-upload': object.post('uploadId', 'PutObject', {
    effect: 'free',
    ...UNVERSIONED,
  }),
  'abort-multipart-upload': object.delete('uploadId', 'AbortMultipartUpload', UNVERSIONED),
  'list-parts': object.get('uploadId', 'ListMultipartUploadParts', UNVERSIONED),
  // Settings of an object
  'get-object-tagging': object.get('tagging', 'GetObjectTagging', VERSIONED),
  'put-object-tagging': object.put('tagging', 'PutObjectTagging', {
    ...VERSIONED,
    effect: 'store',
  }),
  'delete-object-tagging': object.delete('tagging', 'DeleteObjectTagging', VERSIONED),
  'get-object-acl': object.get('acl', 'GetObjectAcl', VERSIONED),
  'put-object-acl': object.put('acl', 'PutObjectAcl', { ...VERSIONED, effect: 'store' }),
  'get-object-retention': object.get('retention', 'GetObjectRetention'),
  'put-object-retention': object.put('retention', 'PutObjectRetention'),
  'get-object-legal-hold': object.get('legal-hold', 'GetObjectLegalHold'),
  'put-object-legal-hold': object.put('legal-hold', 'PutObjectLegalHold'),
  'put-object-annotation': object.put('annotation', 'PutObjectAnnotation', { effect: 'store' }),
  'get-object-annotation': object.get('annotation', 'GetObjectAnnotation', { when: 'name' }),
  'list-object-annotations': object.get('annotation', 'ListObjectAnnotations'),
  'delete-object-annotation': object.delete('annotation', 'DeleteObjectAnnotation'),
  'update-object-encryption': object.put('encryption', 'UpdateObjectEncryption'),
  // Settings of a bucket
  'get-bucket-acl': bucket.get('acl', 'GetBucketAcl'),
  'put-bucket-acl': bucket.put('acl', 'PutBucketAcl'),
  'get-bucket-versioning': bucket.get('versioning', 'GetBucketVersioning'),
  'put-bucket-versioning': bucket.put('versioning', 'PutBucketVersioning'),
  'get-bucket-logging': bucket.get('logging', 'GetBucketLogging'),
  'put-bucket-logging': bucket.put('logging', 'PutBucketLogging'),
  'get-bucket-notification-configuration': bucket.get('notification', 'GetBucketNotification'),
  'put-bucket-notification-configuration': bucket.put('notification', 'PutBucketNotification', {
    effect: 'store',
  }),
  'get-bucket-request-payment': bucket.get('requestPayment', 'GetBucketRequestPayment'),
  'put-bucket-request-payment': bucket.put('requestPayment', 'PutBucketRequestPayment'),
  'get-bucket-accelerate-configuration': bucket.get('accelerate', 'GetAccelerateConfiguration'),
  'put-bucket-accelerate-configuration': bucket.put('accelerate', 'PutAccelerateConfiguration'),
  'get-bucket-abac': bucket.get('abac', 'GetBucketABAC'),
  'put-bucket-abac': bucket.put('abac', 'PutBucketABAC'),
  'get-object-lock-configuration': bucket.get('object-lock', 'GetBucketObjectLockConfiguration'),
  'put-object-lock-configuration': bucket.put('object-lock', 'PutBucketObjectLockConfiguration'),
  'get-bucket-policy-status': bucket.get('policyStatus', 'GetBucketPolicyStatus'),
  'get-bucket-tagging': bucket.get('tagging', 'GetBucketTagging'),
  'put-bucket-tagging': bucket.put('tagging', 'PutBucketTagging', { effect: 'store' }),
  'delete-bucket-tagging': bucket.delete('tagging', 'PutBucketTagging'),
  'get-bucket-cors': bucket.get('cors', 'GetBucketCORS'),
  'put-bucket-cors': bucket.put('cors', 'PutBucketCORS', { effect: 'store' }),
  'delete-bucket-cors': bucket.delete('cors', 'PutBucketCORS'),
  'get-bucket-policy': bucket.get('policy', 'GetBucketPolicy'),
  'put-bucket-policy': bucket.put('policy', 'PutBucketPolicy'),
  'delete-bucket-policy': bucket.delete('policy', 'DeleteBucketPolicy'),
  'get-public-access-block': bucket.get('publicAccessBlock', 'GetBucketPublicAccessBlock'),
  'put-public-access-block': bucket.put('publicAccessBlock', 'PutBucketPublicAccessBlock'),
  'delete-public-access-block': bucket.delete('publicAccessBlock', 'PutBucketPublicAccessBlock'),
  'get-bucket-ownership-controls': bucket.get('ownershipControls', 'GetBucketOwnershipControls'),
  'put-bucket-ownership-controls': bucket.put('ownershipControls', 'PutBucketOwnershipControls'),
  'delete-bucket-ownership-controls': bucket.delete(
    'ownershipControls',
    'PutBucketOwnershipControls',
  ),
  'get-bucket-encryption': bucket.get('encryption', 'GetEncryptionConfiguration'),
  'put-bucket-encryption': bucket.put('encryption', 'PutEncryptionConfiguration'),
  'delete-bucket-encryption': bucket.delete('encryption', 'PutEncryptionConfiguration'),
  'get-bucket-website': bucket.get('website', 'GetBucketWebsite'),
  'put-bucket-website': bucket.put('website', 'PutBucketWebsite', { effect: 'store' }),
  'delete-bucket-website': bucket.delete('website', 'DeleteBucketWebsite'),
  'get-bucket-lifecycle-configuration': bucket.get('lifecycle', 'GetLifecycleConfiguration'),
  'put-bucket-lifecycle-configuration': bucket.put('lifecycle', 'PutLifecycleConfiguration'),
  'delete-bucket-lifecycle': bucket.delete('lifecycle', 'PutLifecycleConfiguration'),
  // No commands of the SDK: events of notifications, preflights, pages of a website
  'list-bucket-events': bucket.get('events', 'ListBucketEvents'),
  'preflight-service': service.options(null, null),
  'preflight-bucket': bucket.options(null, null),
  'preflight-object': object.options(null, null),
  'preflight-website': website.options(null, null),
  'get-website-page': website.get(null, 'GetObject'),
  'head-website-page': website.head(null, 'GetObject'),
} satisfies Record<string, S3Operation>

// Reads of configurations that never exist answer as AWS answers for "none", because clients read before they plan.
// Writes are refused: a configuration without effect is never stored.
const FIXED = refused({
  'rename-object': object.put('renameObject', 'PutObject'),
  // There is no archive tier and no tracker: the answers of AWS for an object that has neither
  'restore-object': object.post('restore', 'RestoreObject', {
    answer: 'InvalidObjectState',
  }),
  'get-object-torrent': object.get('torrent', 'GetObjectTorrent', { answer: 'NoSuchKey' }),
  // Excluded from this service. Terraform reads the replication of every bucket
  'select-object-content': object.post('select', 'GetObject'),
  'get-bucket-replication': bucket.get('replication', 'GetReplicationConfiguration', {
    answer: 'ReplicationConfigurationNotFoundError',
  }),
  'put-bucket-replication': bucket.put('replication', 'PutReplicationConfiguration'),
  'delete-bucket-replication': bucket.delete('replication', 'PutReplicationConfiguration'),
  // Services of AWS alone
  'get-bucket-analytics-configuration': bucket.get('analytics', 'GetAnalyticsConfiguration', {
    when: 'id',
    answer: 'NoSuchConfiguration',
  }),
  'list-bucket-analytics-configurations': bucket.get('analytics', 'GetAnalyticsConfiguration', {
    answer: 'empty',
  }),
  'put-bucket-analytics-configuration': bucket.put('analytics', 'PutAnalyticsConfiguration'),
  'delete-bucket-analytics-configuration': bucket.delete('analytics', 'PutAnalyticsConfiguration'),
  'get-bucket-metrics-configuration': bucket.get('metrics', 'GetMetricsConfiguration', {
    when: 'id',
    answer: 'NoSuchConfiguration',
  }),
  'list-bucket-metrics-configurations': bucket.get('metrics', 'GetMetricsConfiguration', {
    answer: 'empty',
  }),
  'put-bucket-metrics-configuration': bucket.put('metrics', 'PutMetricsConfiguration'),
  'delete-bucket-metrics-configuration': bucket.delete('metrics', 'PutMetricsConfiguration'),
  'get-bucket-inventory-configuration': bucket.get('inventory', 'GetInventoryConfiguration', {
    when: 'id',
    answer: 'NoSuchConfiguration',
  }),
  'list-bucket-inventory-configurations': bucket.get('inventory', 'GetInventoryConfiguration', {
    answer: 'empty',
  }),
  'put-bucket-inventory-configuration': bucket.put('inventory', 'PutInventoryConfiguration'),
  'delete-bucket-inventory-configuration': bucket.delete('inventory', 'PutInventoryConfiguration'),
  'get-bucket-intelligent-tiering-configuration': bucket.get(
    'intelligent-tiering',
    'GetIntelligentTieringConfiguration',
    { when: 'id', answer: 'NoSuchConfiguration' },
  ),
  'list-bucket-intelligent-tiering-configurations': bucket.get(
    'intelligent-tiering',
    'GetIntelligentTieringConfiguration',
    { answer: 'empty' },
  ),
  'put-bucket-intelligent-tiering-configuration': bucket.put(
    'intelligent-tiering',
    'PutIntelligentTieringConfiguration',
  ),
  'delete-bucket-intelligent-tiering-configuration': bucket.delete(
    'intelligent-tiering',
    'PutIntelligentTieringConfiguration',
  ),
  'get-bucket-metadata-configuration': bucket.get(
    'metadataConfiguration',
    'GetBucketMetadataTableConfiguration',
    { answer: 'MetadataConfigurationNotFound' },
  ),
  'create-bucket-metadata-configuration': bucket.post(
    'metadataConfiguration',
    'CreateBucketMetadataTableConfiguration',
  ),
  'delete-bucket-metadata-configuration': bucket.delete(
    'metadataConfiguration',
    'DeleteBucketMetadataTableConfiguration',
  ),
  'get-bucket-metadata-table-configuration': bucket.get(
    'metadataTable',
    'GetBucketMetadataTableConfiguration',
    { answer: 'MetadataConfigurationNotFound' },
  ),
  'create-bucket-metadata-table-configuration': bucket.post(
    'metadataTable',
    'CreateBucketMetadataTableConfiguration',
  ),
  'delete-bucket-metadata-table-configuration': bucket.delete(
    'metadataTable',
    'DeleteBucketMetadataTableConfiguration',
  ),
  'update-bucket-metadata-inventory-table-configuration': bucket.put(
    'metadataInventoryTable',
    'UpdateBucketMetadataInventoryTableConfiguration',
  ),
  'update-bucket-metadata-journal-table-configuration': bucket.put(
    'metadataJournalTable',
    'UpdateBucketMetadataJournalTableConfiguration',
  ),
  'update-bucket-metadata-annotation-table-configuration': bucket.put(
    'metadataAnnotationTable',
    'UpdateBucketMetadataAnnotationTableConfiguration',
  ),
  'create-session': bucket.get('session', 'CreateSession'),
  'list-directory-buckets': service.get(null, 'ListAllMyDirectoryBuckets', {
    when: 'directory',
  }),
  'write-get-object-response': bucket.post(null, 'WriteGetObjectResponse', {
    when: 'lambda',
  }),
})

export const S3_OPERATIONS: Readonly<Record<S3OperationName, S3Operation>> = { ...SERVED, ...FIXED }

/** The name in policies of an action on a named version: GetObject → GetObjectVersion. */
export const versionAction = (action: string): string => action.replace('Object', 'ObjectVersion')

const USAGE = {
  service: 'storage',
  tier: 'L0',
  stage: 'preview',
  remembered: true,
  idempotent: false,
} as const

type S3UsageRow = typeof USAGE &
  Pick<S3Operation, 'scope'> &
  Pick<Operation, 'answeredDeleting' | 'answeredUnpaid'>

/**
 * Answered also when the account cannot pay: operations that list, describe or remove, so that the account can store
 * less. None of them moves the bytes of an object.
 */
const isAnsweredUnpaid = ({ method, level, action, subresource }: S3Operation): boolean =>
  level !== 'website' &&
  (method === 'HEAD' ||
    method === 'DELETE' ||
    (method === 'POST' && subresource === 'delete') ||
    (method === 'GET' && action?.startsWith('List') === true))

const UNSERVED = bucket.get(null, null)

/** The rows of contract/operations.ts: one for each served operation, and one for all others together. */
export const STORAGE_OPERATIONS = Object.fromEntries(
  Object.entries<S3Operation>({ ...SERVED, unserved: UNSERVED }).map(([name, operation]) => [
    `storage.${name}`,
    {
      ...USAGE,
      scope: operation.scope,
      ...(operation.scope === 'read' ? ({ answeredDeleting: true } as const) : {}),
      ...(isAnsweredUnpaid(operation) ? ({ answeredUnpaid: true } as const) : {}),
    },
  ]),
) as Readonly<Record<`storage.${ServedOperation | 'unserved'}`, S3UsageRow>>
