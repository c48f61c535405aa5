// Every operation of the S3 door that has a handler, by name.
import type { Handlers, StorageHandler } from './call.ts'
import type { StorageDeps } from './deps.ts'
import {
  createGetBucketAcl,
  createGetObjectAcl,
  createPutBucketAcl,
  createPutObjectAcl,
} from './policy/acl-operations.ts'
import { createBucketDocuments } from './buckets/bucket-documents.ts'
import {
  createGetBucketAbac,
  createGetBucketAccelerateConfiguration,
  createGetBucketLocation,
  createGetBucketLogging,
  createGetBucketPolicyStatus,
  createGetBucketRequestPayment,
  createGetBucketVersioning,
  createGetObjectLockConfiguration,
  createPutBucketAbac,
  createPutBucketAccelerateConfiguration,
  createPutBucketLogging,
  createPutBucketRequestPayment,
  createPutBucketVersioning,
  createPutObjectLockConfiguration,
} from './buckets/bucket-settings.ts'
import { createPreflight, preflightOfService, withCors } from './cors/preflight.ts'
import { createCopyObject } from './objects/copy-object.ts'
import { createCreateBucket } from './buckets/create-bucket.ts'
import { createDeleteBucket } from './buckets/delete-bucket.ts'
import { createDeleteObject } from './objects/delete-object.ts'
import { createDeleteObjects } from './objects/delete-objects.ts'
import { createGetObject, createHeadObject } from './objects/get-object.ts'
import { createGetObjectAttributes } from './objects/get-object-attributes.ts'
import { createHeadBucket } from './buckets/head-bucket.ts'
import { createListBuckets } from './buckets/list-buckets.ts'
import {
  createListObjects,
  createListObjectsV2,
  createListObjectVersions,
} from './listing/list-objects.ts'
import {
  createAbortMultipartUpload,
  createCompleteMultipartUpload,
  createCreateMultipartUpload,
  createListMultipartUploads,
  createListParts,
  createUploadPart,
} from './multipart/multipart.ts'
import {
  createDeleteObjectTagging,
  createGetObjectLegalHold,
  createGetObjectRetention,
  createGetObjectTagging,
  createPutObjectLegalHold,
  createPutObjectRetention,
  createPutObjectTagging,
} from './objects/object-settings.ts'
import {
  createDeleteObjectAnnotation,
  createGetObjectAnnotation,
  createListObjectAnnotations,
  createPutObjectAnnotation,
} from './annotations/object-annotations.ts'
import {
  createGetBucketNotification,
  createListBucketEvents,
  createPutBucketNotification,
} from './notifications/operations.ts'
import { createPostObject } from './post/post-object.ts'
import { createPutObject } from './objects/put-object.ts'
import { createUpdateObjectEncryption } from './encryption/update-object-encryption.ts'
import { createUploadPartCopy } from './multipart/upload-part-copy.ts'
import { createGetWebsitePage, createHeadWebsitePage } from './website/website-page.ts'
import { S3_OPERATIONS, type ServedOperation } from '#contract/s3-operations.ts'

/** Every handler. All but preflights add the answers of the bucket's CORS rules. */
export const createHandlers = (deps: StorageDeps): Handlers => {
  const wrapped = Object.entries(handlersOf(deps)).map(([name, handler]) => {
    const { effect } = S3_OPERATIONS[name as ServedOperation]
    const isFreeing = effect === 'free' || effect === 'read'
    return [name, withCors(deps, isFreeing ? handler : withRoom(deps, handler))]
  })
  return {
    ...(Object.fromEntries(wrapped) as Omit<Handlers, PreflightOperation>),
    'preflight-service': preflightOfService,
    'preflight-bucket': createPreflight(deps),
    'preflight-object': createPreflight(deps),
    'preflight-website': createPreflight(deps),
  }
}

type PreflightOperation = Extract<ServedOperation, `preflight-${string}`>

/** A handler that refuses on a disk of which the journal and the log of the state need the rest. */
const withRoom =
  ({ receiver }: StorageDeps, handler: StorageHandler): StorageHandler =>
  async (request) => {
    await receiver.admit()
    return await handler(request)
  }

const handlersOf = (deps: StorageDeps): Omit<Handlers, PreflightOperation> => ({
  'list-buckets': createListBuckets(deps),
  'create-bucket': createCreateBucket(deps),
  'head-bucket': createHeadBucket(deps),
  'delete-bucket': createDeleteBucket(deps),
  'list-objects': createListObjects(deps),
  'list-objects-v2': createListObjectsV2(deps),
  'list-object-versions': createListObjectVersions(deps),
  'get-object': createGetObject(deps),
  'head-object': createHeadObject(deps),
  'put-object': createPutObject(deps),
  'post-object': createPostObject(deps),
  'copy-object': createCopyObject(deps),
  'get-object-attributes': createGetObjectAttributes(deps),
  'delete-object': createDeleteObject(deps),
  'delete-objects': createDeleteObjects(deps),
  'create-multipart-upload': createCreateMultipartUpload(deps),
  'upload-part': createUploadPart(deps),
  'upload-part-copy': createUploadPartCopy(deps),
  'complete-multipart-upload': createCompleteMultipartUpload(deps),
  'abort-multipart-upload': createAbortMultipartUpload(deps),
  'list-parts': createListParts(deps),
  'list-multipart-uploads': createListMultipartUploads(deps),
  'get-object-tagging': createGetObjectTagging(deps),
  'put-object-tagging': createPutObjectTagging(deps),
  'delete-object-tagging': createDeleteObjectTagging(deps),
  'get-object-acl': createGetObjectAcl(deps),
  'put-object-acl': createPutObjectAcl(deps),
  'get-object-retention': createGetObjectRetention(deps),
  'put-object-retention': createPutObjectRetention(deps),
  'get-object-legal-hold': createGetObjectLegalHold(deps),
  'put-object-legal-hold': createPutObjectLegalHold(deps),
  'put-object-annotation': createPutObjectAnnotation(deps),
  'get-object-annotation': createGetObjectAnnotation(deps),
  'list-object-annotations': createListObjectAnnotations(deps),
  'delete-object-annotation': createDeleteObjectAnnotation(deps),
  'update-object-encryption': createUpdateObjectEncryption(deps),
  'get-bucket-acl': createGetBucketAcl(deps),
  'put-bucket-acl': createPutBucketAcl(deps),
  'get-bucket-location': createGetBucketLocation(deps),
  'get-bucket-logging': createGetBucketLogging(deps),
  'put-bucket-logging': createPutBucketLogging(deps),
  'get-bucket-notification-configuration': createGetBucketNotification(deps),
  'put-bucket-notification-configuration': createPutBucketNotification(deps),
  'list-bucket-events': createListBucketEvents(deps),
  'get-bucket-versioning': createGetBucketVersioning(deps),
  'put-bucket-versioning': createPutBucketVersioning(deps),
  'get-object-lock-configuration': createGetObjectLockConfiguration(deps),
  'put-object-lock-configuration': createPutObjectLockConfiguration(deps),
  'get-bucket-policy-status': createGetBucketPolicyStatus(deps),
  'get-bucket-request-payment': createGetBucketRequestPayment(deps),
  'put-bucket-request-payment': createPutBucketRequestPayment(deps),
  'get-bucket-accelerate-configuration': createGetBucketAccelerateConfiguration(deps),
  'put-bucket-accelerate-configuration': createPutBucketAccelerateConfiguration(deps),
  'get-bucket-abac': createGetBucketAbac(deps),
  'put-bucket-abac': createPutBucketAbac(deps),
  'get-website-page': createGetWebsitePage(deps),
  'head-website-page': createHeadWebsitePage(deps),
  ...createBucketDocuments(deps),
})
