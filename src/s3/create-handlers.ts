// The handler of each operation that is served. `tsc` fails while one of the contract's table is missing.
import { S3_OPERATIONS, type ServedOperation } from '#contract/storage/s3-operations.ts'
import {
  createDeleteObjectAnnotation,
  createGetObjectAnnotation,
  createListObjectAnnotations,
  createPutObjectAnnotation,
} from './annotations/object-annotations.ts'
import {
  deleteConfiguration,
  getConfiguration,
  putConfiguration,
  type Configuration,
} from './buckets/configuration.ts'
import { createCreateBucket } from './buckets/create-bucket.ts'
import { createDeleteBucket } from './buckets/delete-bucket.ts'
import {
  createGetFixed,
  createPutFixed,
  ABAC,
  ACCELERATION,
  REQUEST_PAYMENT,
} from './buckets/fixed-settings.ts'
import { createGetBucketLocation } from './buckets/get-bucket-location.ts'
import { createHeadBucket } from './buckets/head-bucket.ts'
import { createListBuckets } from './buckets/list-buckets.ts'
import { createGetBucketVersioning, createPutBucketVersioning } from './buckets/versioning.ts'
import { CORS } from './cors/configuration.ts'
import { createPreflight, preflightOfService, withCors } from './cors/preflight.ts'
import { bucketEncryption } from './encryption/configuration.ts'
import { createUpdateObjectEncryption } from './encryption/update-object-encryption.ts'
import { LIFECYCLE } from './lifecycle/configuration.ts'
import {
  createListObjectVersions,
  createListObjects,
  createListObjectsV2,
} from './listing/list-objects.ts'
import {
  createGetObjectLegalHold,
  createGetObjectLockConfiguration,
  createGetObjectRetention,
  createPutObjectLegalHold,
  createPutObjectLockConfiguration,
  createPutObjectRetention,
} from './lock/operations.ts'
import { createGetBucketLogging, createPutBucketLogging } from './logging/operations.ts'
import { createCompleteMultipartUpload } from './multipart/complete-upload.ts'
import { createCreateMultipartUpload } from './multipart/create-upload.ts'
import {
  createAbortMultipartUpload,
  createListMultipartUploads,
  createListParts,
} from './multipart/open-uploads.ts'
import { createUploadPartCopy } from './multipart/upload-part-copy.ts'
import { createUploadPart } from './multipart/upload-part.ts'
import {
  createGetBucketNotification,
  createListBucketEvents,
  createPutBucketNotification,
} from './notifications/operations.ts'
import { createCopyObject } from './objects/copy-object.ts'
import { createDeleteObject } from './objects/delete-object.ts'
import { createDeleteObjects } from './objects/delete-objects.ts'
import { createGetObjectAttributes } from './objects/get-object-attributes.ts'
import { createGetObject, createHeadObject } from './objects/get-object.ts'
import { createPutObject } from './objects/put-object.ts'
import {
  createGetBucketAcl,
  createGetObjectAcl,
  createPutBucketAcl,
  createPutObjectAcl,
} from './policy/acl-operations.ts'
import { OWNERSHIP_CONTROLS, POLICY, PUBLIC_ACCESS_BLOCK } from './policy/configurations.ts'
import { createGetBucketPolicyStatus } from './policy/policy-status.ts'
import { createPostObject } from './post/post-object.ts'
import { BUCKET_TAGGING } from './tagging/configuration.ts'
import {
  createDeleteObjectTagging,
  createGetObjectTagging,
  createPutObjectTagging,
} from './tagging/object-tagging.ts'
import { WEBSITE } from './website/configuration.ts'
import { createGetWebsitePage, createHeadWebsitePage } from './website/website-page.ts'
import type { Handlers, StorageHandler } from './call.ts'
import type { Parts } from './parts.ts'

type Preflight = Extract<ServedOperation, `preflight-${string}`>

/** Replies of all handlers but preflights have the headers of the bucket's CORS rules. */
export function createHandlers(parts: Parts): Handlers {
  const preflight = createPreflight(parts)
  const handlers = Object.entries<StorageHandler>(handlersOf(parts)).map(([name, handler]) => {
    const { effect } = S3_OPERATIONS[name as ServedOperation]
    const needsSpace = effect === 'write' || effect === 'store'
    return [name, withCors(parts, needsSpace ? withSpace(parts, handler) : handler)]
  })
  return {
    ...(Object.fromEntries(handlers) as Omit<Handlers, Preflight>),
    'preflight-service': preflightOfService,
    'preflight-bucket': preflight,
    'preflight-object': preflight,
    'preflight-website': preflight,
  }
}

/** Refuses while the rest of the disk is reserved for the journal and the state. Throws InsufficientStorage. */
const withSpace =
  ({ receiver }: Pick<Parts, 'receiver'>, handler: StorageHandler): StorageHandler =>
  async (request) => {
    await receiver.admit()
    return await handler(request)
  }

const configuration = <N extends string>(parts: Parts, name: N, row: Configuration) =>
  ({
    [`get-${name}`]: getConfiguration(parts, row),
    [`put-${name}`]: putConfiguration(parts, row),
    [`delete-${name}`]: deleteConfiguration(parts, row),
  }) as Record<`${'get' | 'put' | 'delete'}-${N}`, StorageHandler>

const handlersOf = (parts: Parts): Omit<Handlers, Preflight> => ({
  'list-buckets': createListBuckets(parts),
  'create-bucket': createCreateBucket(parts),
  'head-bucket': createHeadBucket(parts),
  'delete-bucket': createDeleteBucket(parts),
  'list-objects': createListObjects(parts),
  'list-objects-v2': createListObjectsV2(parts),
  'list-object-versions': createListObjectVersions(parts),
  'get-object': createGetObject(parts),
  'head-object': createHeadObject(parts),
  'put-object': createPutObject(parts),
  'post-object': createPostObject(parts),
  'copy-object': createCopyObject(parts),
  'get-object-attributes': createGetObjectAttributes(parts),
  'delete-object': createDeleteObject(parts),
  'delete-objects': createDeleteObjects(parts),
  'create-multipart-upload': createCreateMultipartUpload(parts),
  'upload-part': createUploadPart(parts),
  'upload-part-copy': createUploadPartCopy(parts),
  'complete-multipart-upload': createCompleteMultipartUpload(parts),
  'abort-multipart-upload': createAbortMultipartUpload(parts),
  'list-parts': createListParts(parts),
  'list-multipart-uploads': createListMultipartUploads(parts),
  'get-object-tagging': createGetObjectTagging(parts),
  'put-object-tagging': createPutObjectTagging(parts),
  'delete-object-tagging': createDeleteObjectTagging(parts),
  'get-object-acl': createGetObjectAcl(parts),
  'put-object-acl': createPutObjectAcl(parts),
  'get-object-retention': createGetObjectRetention(parts),
  'put-object-retention': createPutObjectRetention(parts),
  'get-object-legal-hold': createGetObjectLegalHold(parts),
  'put-object-legal-hold': createPutObjectLegalHold(parts),
  'put-object-annotation': createPutObjectAnnotation(parts),
  'get-object-annotation': createGetObjectAnnotation(parts),
  'list-object-annotations': createListObjectAnnotations(parts),
  'delete-object-annotation': createDeleteObjectAnnotation(parts),
  'update-object-encryption': createUpdateObjectEncryption(parts),
  'get-bucket-acl': createGetBucketAcl(parts),
  'put-bucket-acl': createPutBucketAcl(parts),
  'get-bucket-location': createGetBucketLocation(parts),
  'get-bucket-logging': createGetBucketLogging(parts),
  'put-bucket-logging': createPutBucketLogging(parts),
  'get-bucket-notification-configuration': createGetBucketNotification(parts),
  'put-bucket-notification-configuration': createPutBucketNotification(parts),
  'list-bucket-events': createListBucketEvents(parts),
  'get-bucket-versioning': createGetBucketVersioning(parts),
  'put-bucket-versioning': createPutBucketVersioning(parts),
  'get-object-lock-configuration': createGetObjectLockConfiguration(parts),
  'put-object-lock-configuration': createPutObjectLockConfiguration(parts),
  'get-bucket-policy-status': createGetBucketPolicyStatus(parts),
  'get-bucket-request-payment': createGetFixed(parts, REQUEST_PAYMENT),
  'put-bucket-request-payment': createPutFixed(parts, REQUEST_PAYMENT),
  'get-bucket-accelerate-configuration': createGetFixed(parts, ACCELERATION),
  'put-bucket-accelerate-configuration': createPutFixed(parts, ACCELERATION),
  'get-bucket-abac': createGetFixed(parts, ABAC),
  'put-bucket-abac': createPutFixed(parts, ABAC),
  'get-website-page': createGetWebsitePage(parts),
  'head-website-page': createHeadWebsitePage(parts),
  ...configuration(parts, 'bucket-cors', CORS),
  ...configuration(parts, 'bucket-tagging', BUCKET_TAGGING),
  ...configuration(parts, 'bucket-policy', POLICY),
  ...configuration(parts, 'public-access-block', PUBLIC_ACCESS_BLOCK),
  ...configuration(parts, 'bucket-ownership-controls', OWNERSHIP_CONTROLS),
  ...configuration(parts, 'bucket-encryption', bucketEncryption(parts.settings)),
  ...configuration(parts, 'bucket-website', WEBSITE),
  'get-bucket-lifecycle-configuration': getConfiguration(parts, LIFECYCLE),
  'put-bucket-lifecycle-configuration': putConfiguration(parts, LIFECYCLE),
  'delete-bucket-lifecycle': deleteConfiguration(parts, LIFECYCLE),
})
