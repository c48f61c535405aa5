// The operations of object storage by the scope they need, under the names of the S3 protocol. How a
// request names them is the storage door's own table (storage/s3/operations.ts); a test holds the two
// together.

const OPEN = [
  'preflight-service',
  'preflight-bucket',
  'preflight-object',
  'preflight-website',
] as const

const READS = [
  // What is known and not served: "there is none", or 501.
  'unserved',
  'list-buckets',
  'head-bucket',
  'list-objects',
  'list-objects-v2',
  'list-object-versions',
  'get-object',
  'head-object',
  'get-object-attributes',
  'get-website-page',
  'head-website-page',
  'list-parts',
  'list-multipart-uploads',
  'get-object-tagging',
  'get-object-acl',
  'get-object-retention',
  'get-object-legal-hold',
  'get-object-annotation',
  'list-object-annotations',
  'get-bucket-location',
  'get-bucket-policy-status',
  'get-bucket-acl',
  'get-bucket-versioning',
  'get-bucket-logging',
  'get-bucket-notification-configuration',
  'list-bucket-events',
  'get-bucket-request-payment',
  'get-bucket-accelerate-configuration',
  'get-bucket-abac',
  'get-object-lock-configuration',
  'get-bucket-tagging',
  'get-bucket-cors',
  'get-bucket-policy',
  'get-public-access-block',
  'get-bucket-ownership-controls',
  'get-bucket-encryption',
  'get-bucket-website',
  'get-bucket-lifecycle-configuration',
] as const

const WRITES = [
  'create-bucket',
  'delete-bucket',
  'put-object',
  'post-object',
  'copy-object',
  'delete-object',
  'delete-objects',
  'create-multipart-upload',
  'upload-part',
  'upload-part-copy',
  'complete-multipart-upload',
  'abort-multipart-upload',
  'put-object-tagging',
  'delete-object-tagging',
  'put-object-acl',
  'put-object-retention',
  'put-object-legal-hold',
  'put-object-annotation',
  'update-object-encryption',
  'delete-object-annotation',
  'put-bucket-acl',
  'put-bucket-versioning',
  'put-bucket-logging',
  'put-bucket-notification-configuration',
  'put-bucket-request-payment',
  'put-bucket-accelerate-configuration',
  'put-bucket-abac',
  'put-object-lock-configuration',
  'put-bucket-tagging',
  'delete-bucket-tagging',
  'put-bucket-cors',
  'delete-bucket-cors',
  'put-bucket-policy',
  'delete-bucket-policy',
  'put-public-access-block',
  'delete-public-access-block',
  'put-bucket-ownership-controls',
  'delete-bucket-ownership-controls',
  'put-bucket-encryption',
  'delete-bucket-encryption',
  'put-bucket-website',
  'delete-bucket-website',
  'put-bucket-lifecycle-configuration',
  'delete-bucket-lifecycle',
] as const

export type StorageOperationName =
  | (typeof OPEN)[number]
  | (typeof READS)[number]
  | (typeof WRITES)[number]

const row = {
  service: 'storage',
  tier: 'L0',
  stage: 'preview',
  remembered: true,
  idempotent: false,
} as const

type Row<Scope> = typeof row & { readonly scope: Scope }
type Named<Scope> = Readonly<Record<`storage.${StorageOperationName}`, Row<Scope>>>

const rows = <Scope>(names: readonly StorageOperationName[], scope: Scope) =>
  Object.fromEntries(names.map((name) => [`storage.${name}`, { ...row, scope }]))

/** One row for each operation of the S3 door, by `storage.<name>`. */
export const STORAGE_OPERATIONS = {
  ...rows(OPEN, null),
  ...rows(READS, 'read' as const),
  ...rows(WRITES, 'deploy' as const),
} as Named<'read' | 'deploy' | null>
