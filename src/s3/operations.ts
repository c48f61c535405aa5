// Every operation of the S3 protocol as data: how a request names it, what IAM calls it, and how this
// service answers. match.ts reads the table; a test holds it against every command of the AWS SDK.
import type { StorageCode } from '#contract/storage-errors.ts'

export type Level = 'service' | 'bucket' | 'object' | 'website'
type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS'

/** What a request must also have where two operations share the rest; tested in match.ts. */
export type Condition = 'copy-source' | 'form' | 'id' | 'name' | 'directory' | 'lambda'

/** Method, what it is called on, the parameter that names it, the condition. */
export type Binding =
  | `${Method} ${Level}`
  | `${Method} ${Level} ?${string}`
  | `${Method} ${Level} +${Condition}`
  | `${Method} ${Level} ?${string} +${Condition}`

/** 'served': there is a handler. 'empty': 200 with an empty list. Else the error that always comes. */
export type Answer = 'served' | 'empty' | StorageCode

export type S3Operation = {
  readonly binding: Binding
  /** Its name in policies, without `s3:`; preflights have none. */
  readonly action: string
  /** Its name when the request names a version. */
  readonly versionAction: string
  readonly answer: Answer
}

const always = (answer: Answer, binding: Binding, action: string): S3Operation => ({
  binding,
  action,
  versionAction: action,
  answer,
})
const served = (binding: Binding, action: string) => always('served', binding, action)
const refused = (binding: Binding, action: string) => always('NotImplemented', binding, action)
const versioned = (binding: Binding, action: string): S3Operation => ({
  ...served(binding, action),
  versionAction: action.replace('Object', 'ObjectVersion'),
})

const SERVED = {
  // Buckets
  'list-buckets': served('GET service', 'ListAllMyBuckets'),
  'create-bucket': served('PUT bucket', 'CreateBucket'),
  'head-bucket': served('HEAD bucket', 'ListBucket'),
  'delete-bucket': served('DELETE bucket', 'DeleteBucket'),
  'get-bucket-location': served('GET bucket ?location', 'GetBucketLocation'),
  // Listing
  'list-objects': served('GET bucket', 'ListBucket'),
  'list-objects-v2': served('GET bucket ?list-type', 'ListBucket'),
  'list-object-versions': served('GET bucket ?versions', 'ListBucketVersions'),
  'list-multipart-uploads': served('GET bucket ?uploads', 'ListBucketMultipartUploads'),
  // Objects
  'get-object': versioned('GET object', 'GetObject'),
  'head-object': versioned('HEAD object', 'GetObject'),
  'put-object': served('PUT object', 'PutObject'),
  'copy-object': served('PUT object +copy-source', 'PutObject'),
  'post-object': served('POST bucket +form', 'PutObject'),
  'delete-object': versioned('DELETE object', 'DeleteObject'),
  'delete-objects': served('POST bucket ?delete', 'DeleteObject'),
  'get-object-attributes': versioned('GET object ?attributes', 'GetObjectAttributes'),
  // Multipart
  'create-multipart-upload': served('POST object ?uploads', 'PutObject'),
  'upload-part': served('PUT object ?uploadId', 'PutObject'),
  'upload-part-copy': served('PUT object ?uploadId +copy-source', 'PutObject'),
  'complete-multipart-upload': served('POST object ?uploadId', 'PutObject'),
  'abort-multipart-upload': served('DELETE object ?uploadId', 'AbortMultipartUpload'),
  'list-parts': served('GET object ?uploadId', 'ListMultipartUploadParts'),
  // Settings of an object
  'get-object-tagging': versioned('GET object ?tagging', 'GetObjectTagging'),
  'put-object-tagging': versioned('PUT object ?tagging', 'PutObjectTagging'),
  'delete-object-tagging': versioned('DELETE object ?tagging', 'DeleteObjectTagging'),
  'get-object-acl': versioned('GET object ?acl', 'GetObjectAcl'),
  'put-object-acl': versioned('PUT object ?acl', 'PutObjectAcl'),
  'get-object-retention': served('GET object ?retention', 'GetObjectRetention'),
  'put-object-retention': served('PUT object ?retention', 'PutObjectRetention'),
  'get-object-legal-hold': served('GET object ?legal-hold', 'GetObjectLegalHold'),
  'put-object-legal-hold': served('PUT object ?legal-hold', 'PutObjectLegalHold'),
  'put-object-annotation': served('PUT object ?annotation', 'PutObjectAnnotation'),
  'get-object-annotation': served('GET object ?annotation +name', 'GetObjectAnnotation'),
  'list-object-annotations': served('GET object ?annotation', 'ListObjectAnnotations'),
  'delete-object-annotation': served('DELETE object ?annotation', 'DeleteObjectAnnotation'),
  'update-object-encryption': served('PUT object ?encryption', 'UpdateObjectEncryption'),
  // Settings of a bucket
  'get-bucket-acl': served('GET bucket ?acl', 'GetBucketAcl'),
  'put-bucket-acl': served('PUT bucket ?acl', 'PutBucketAcl'),
  'get-bucket-versioning': served('GET bucket ?versioning', 'GetBucketVersioning'),
  'put-bucket-versioning': served('PUT bucket ?versioning', 'PutBucketVersioning'),
  'get-bucket-logging': served('GET bucket ?logging', 'GetBucketLogging'),
  'put-bucket-logging': served('PUT bucket ?logging', 'PutBucketLogging'),
  'get-bucket-notification-configuration': served(
    'GET bucket ?notification',
    'GetBucketNotification',
  ),
  'put-bucket-notification-configuration': served(
    'PUT bucket ?notification',
    'PutBucketNotification',
  ),
  'get-bucket-request-payment': served('GET bucket ?requestPayment', 'GetBucketRequestPayment'),
  'put-bucket-request-payment': served('PUT bucket ?requestPayment', 'PutBucketRequestPayment'),
  'get-bucket-accelerate-configuration': served(
    'GET bucket ?accelerate',
    'GetAccelerateConfiguration',
  ),
  'put-bucket-accelerate-configuration': served(
    'PUT bucket ?accelerate',
    'PutAccelerateConfiguration',
  ),
  'get-bucket-abac': served('GET bucket ?abac', 'GetBucketABAC'),
  'put-bucket-abac': served('PUT bucket ?abac', 'PutBucketABAC'),
  'get-object-lock-configuration': served(
    'GET bucket ?object-lock',
    'GetBucketObjectLockConfiguration',
  ),
  'put-object-lock-configuration': served(
    'PUT bucket ?object-lock',
    'PutBucketObjectLockConfiguration',
  ),
  'get-bucket-policy-status': served('GET bucket ?policyStatus', 'GetBucketPolicyStatus'),
  'get-bucket-tagging': served('GET bucket ?tagging', 'GetBucketTagging'),
  'put-bucket-tagging': served('PUT bucket ?tagging', 'PutBucketTagging'),
  'delete-bucket-tagging': served('DELETE bucket ?tagging', 'PutBucketTagging'),
  'get-bucket-cors': served('GET bucket ?cors', 'GetBucketCORS'),
  'put-bucket-cors': served('PUT bucket ?cors', 'PutBucketCORS'),
  'delete-bucket-cors': served('DELETE bucket ?cors', 'PutBucketCORS'),
  'get-bucket-policy': served('GET bucket ?policy', 'GetBucketPolicy'),
  'put-bucket-policy': served('PUT bucket ?policy', 'PutBucketPolicy'),
  'delete-bucket-policy': served('DELETE bucket ?policy', 'DeleteBucketPolicy'),
  'get-public-access-block': served('GET bucket ?publicAccessBlock', 'GetBucketPublicAccessBlock'),
  'put-public-access-block': served('PUT bucket ?publicAccessBlock', 'PutBucketPublicAccessBlock'),
  'delete-public-access-block': served(
    'DELETE bucket ?publicAccessBlock',
    'PutBucketPublicAccessBlock',
  ),
  'get-bucket-ownership-controls': served(
    'GET bucket ?ownershipControls',
    'GetBucketOwnershipControls',
  ),
  'put-bucket-ownership-controls': served(
    'PUT bucket ?ownershipControls',
    'PutBucketOwnershipControls',
  ),
  'delete-bucket-ownership-controls': served(
    'DELETE bucket ?ownershipControls',
    'PutBucketOwnershipControls',
  ),
  'get-bucket-encryption': served('GET bucket ?encryption', 'GetEncryptionConfiguration'),
  'put-bucket-encryption': served('PUT bucket ?encryption', 'PutEncryptionConfiguration'),
  'delete-bucket-encryption': served('DELETE bucket ?encryption', 'PutEncryptionConfiguration'),
  'get-bucket-website': served('GET bucket ?website', 'GetBucketWebsite'),
  'put-bucket-website': served('PUT bucket ?website', 'PutBucketWebsite'),
  'delete-bucket-website': served('DELETE bucket ?website', 'DeleteBucketWebsite'),
  'get-bucket-lifecycle-configuration': served(
    'GET bucket ?lifecycle',
    'GetLifecycleConfiguration',
  ),
  'put-bucket-lifecycle-configuration': served(
    'PUT bucket ?lifecycle',
    'PutLifecycleConfiguration',
  ),
  'delete-bucket-lifecycle': served('DELETE bucket ?lifecycle', 'PutLifecycleConfiguration'),
  // No command of the SDK: what notifications made, preflight and the pages of a website
  'list-bucket-events': served('GET bucket ?events', 'ListBucketEvents'),
  'preflight-service': served('OPTIONS service', ''),
  'preflight-bucket': served('OPTIONS bucket', ''),
  'preflight-object': served('OPTIONS object', ''),
  'preflight-website': served('OPTIONS website', ''),
  'get-website-page': served('GET website', 'GetObject'),
  'head-website-page': served('HEAD website', 'GetObject'),
} as const satisfies Record<string, S3Operation>

// Reads of what there never is answer as AWS does for "none", because clients read before they plan;
// writes say 501. A configuration without effect is never stored.
const UNSERVED = {
  'rename-object': refused('PUT object ?renameObject', 'PutObject'),
  // No tier to restore from and no tracker: what AWS says of an object that has neither
  'restore-object': always('InvalidObjectState', 'POST object ?restore', 'RestoreObject'),
  'get-object-torrent': always('NoSuchKey', 'GET object ?torrent', 'GetObjectTorrent'),
  // Excluded from this service; reading the replication that there is not keeps Terraform working
  'select-object-content': refused('POST object ?select', 'GetObject'),
  'get-bucket-replication': always(
    'ReplicationConfigurationNotFoundError',
    'GET bucket ?replication',
    'GetReplicationConfiguration',
  ),
  'put-bucket-replication': refused('PUT bucket ?replication', 'PutReplicationConfiguration'),
  'delete-bucket-replication': refused('DELETE bucket ?replication', 'PutReplicationConfiguration'),
  // Of AWS alone
  'get-bucket-analytics-configuration': always(
    'NoSuchConfiguration',
    'GET bucket ?analytics +id',
    'GetAnalyticsConfiguration',
  ),
  'list-bucket-analytics-configurations': always(
    'empty',
    'GET bucket ?analytics',
    'GetAnalyticsConfiguration',
  ),
  'put-bucket-analytics-configuration': refused(
    'PUT bucket ?analytics',
    'PutAnalyticsConfiguration',
  ),
  'delete-bucket-analytics-configuration': refused(
    'DELETE bucket ?analytics',
    'PutAnalyticsConfiguration',
  ),
  'get-bucket-metrics-configuration': always(
    'NoSuchConfiguration',
    'GET bucket ?metrics +id',
    'GetMetricsConfiguration',
  ),
  'list-bucket-metrics-configurations': always(
    'empty',
    'GET bucket ?metrics',
    'GetMetricsConfiguration',
  ),
  'put-bucket-metrics-configuration': refused('PUT bucket ?metrics', 'PutMetricsConfiguration'),
  'delete-bucket-metrics-configuration': refused(
    'DELETE bucket ?metrics',
    'PutMetricsConfiguration',
  ),
  'get-bucket-inventory-configuration': always(
    'NoSuchConfiguration',
    'GET bucket ?inventory +id',
    'GetInventoryConfiguration',
  ),
  'list-bucket-inventory-configurations': always(
    'empty',
    'GET bucket ?inventory',
    'GetInventoryConfiguration',
  ),
  'put-bucket-inventory-configuration': refused(
    'PUT bucket ?inventory',
    'PutInventoryConfiguration',
  ),
  'delete-bucket-inventory-configuration': refused(
    'DELETE bucket ?inventory',
    'PutInventoryConfiguration',
  ),
  'get-bucket-intelligent-tiering-configuration': always(
    'NoSuchConfiguration',
    'GET bucket ?intelligent-tiering +id',
    'GetIntelligentTieringConfiguration',
  ),
  'list-bucket-intelligent-tiering-configurations': always(
    'empty',
    'GET bucket ?intelligent-tiering',
    'GetIntelligentTieringConfiguration',
  ),
  'put-bucket-intelligent-tiering-configuration': refused(
    'PUT bucket ?intelligent-tiering',
    'PutIntelligentTieringConfiguration',
  ),
  'delete-bucket-intelligent-tiering-configuration': refused(
    'DELETE bucket ?intelligent-tiering',
    'PutIntelligentTieringConfiguration',
  ),
  'get-bucket-metadata-configuration': always(
    'MetadataConfigurationNotFound',
    'GET bucket ?metadataConfiguration',
    'GetBucketMetadataTableConfiguration',
  ),
  'create-bucket-metadata-configuration': refused(
    'POST bucket ?metadataConfiguration',
    'CreateBucketMetadataTableConfiguration',
  ),
  'delete-bucket-metadata-configuration': refused(
    'DELETE bucket ?metadataConfiguration',
    'DeleteBucketMetadataTableConfiguration',
  ),
  'get-bucket-metadata-table-configuration': always(
    'MetadataConfigurationNotFound',
    'GET bucket ?metadataTable',
    'GetBucketMetadataTableConfiguration',
  ),
  'create-bucket-metadata-table-configuration': refused(
    'POST bucket ?metadataTable',
    'CreateBucketMetadataTableConfiguration',
  ),
  'delete-bucket-metadata-table-configuration': refused(
    'DELETE bucket ?metadataTable',
    'DeleteBucketMetadataTableConfiguration',
  ),
  'update-bucket-metadata-inventory-table-configuration': refused(
    'PUT bucket ?metadataInventoryTable',
    'UpdateBucketMetadataInventoryTableConfiguration',
  ),
  'update-bucket-metadata-journal-table-configuration': refused(
    'PUT bucket ?metadataJournalTable',
    'UpdateBucketMetadataJournalTableConfiguration',
  ),
  'update-bucket-metadata-annotation-table-configuration': refused(
    'PUT bucket ?metadataAnnotationTable',
    'UpdateBucketMetadataAnnotationTableConfiguration',
  ),
  'create-session': refused('GET bucket ?session', 'CreateSession'),
  'list-directory-buckets': refused('GET service +directory', 'ListAllMyDirectoryBuckets'),
  'write-get-object-response': refused('POST bucket +lambda', 'WriteGetObjectResponse'),
} as const satisfies Record<string, S3Operation>

export const S3_OPERATIONS: Readonly<Record<S3OperationName, S3Operation>> = {
  ...SERVED,
  ...UNSERVED,
}

/** The operations that have handlers. */
export type ServedOperation = keyof typeof SERVED
export type S3OperationName = ServedOperation | keyof typeof UNSERVED
