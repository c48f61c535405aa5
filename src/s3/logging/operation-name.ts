// The name of an operation in access logs: `REST.GET.OBJECT` (AWS, "Amazon S3 server access log format").
import { S3_OPERATIONS, type S3OperationName } from '#contract/storage/s3-operations.ts'

/** Names that do not follow from method and subresource. */
const NAMES: { readonly [name in S3OperationName]?: string } = {
  'copy-object': 'REST.COPY.OBJECT',
  'upload-part': 'REST.PUT.PART',
  'upload-part-copy': 'REST.COPY.PART',
  'complete-multipart-upload': 'REST.POST.UPLOAD',
  'abort-multipart-upload': 'REST.DELETE.UPLOAD',
  'list-parts': 'REST.GET.UPLOAD',
  'post-object': 'REST.POST.OBJECT',
  'delete-objects': 'REST.POST.MULTI_OBJECT_DELETE',
  'list-objects-v2': 'REST.GET.BUCKET',
  'list-object-versions': 'REST.GET.BUCKETVERSIONS',
  'get-bucket-logging': 'REST.GET.LOGGING_STATUS',
  'put-bucket-logging': 'REST.PUT.LOGGING_STATUS',
  'get-bucket-policy': 'REST.GET.BUCKETPOLICY',
  'put-bucket-policy': 'REST.PUT.BUCKETPOLICY',
  'delete-bucket-policy': 'REST.DELETE.BUCKETPOLICY',
  'get-object-tagging': 'REST.GET.OBJECT_TAGGING',
  'put-object-tagging': 'REST.PUT.OBJECT_TAGGING',
  'delete-object-tagging': 'REST.DELETE.OBJECT_TAGGING',
  'get-website-page': 'WEBSITE.GET.OBJECT',
  'head-website-page': 'WEBSITE.HEAD.OBJECT',
  'preflight-bucket': 'REST.OPTIONS.PREFLIGHT',
  'preflight-object': 'REST.OPTIONS.PREFLIGHT',
  'preflight-website': 'WEBSITE.OPTIONS.PREFLIGHT',
}

/** The name comes from the method and the subresource, or from the level where there is no subresource. */
export function loggedOperation(name: S3OperationName): string {
  const known = NAMES[name]
  if (known !== undefined) return known
  const { method, level, subresource } = S3_OPERATIONS[name]
  const words = (subresource ?? level).replace(/[A-Z]/g, '_$&').replaceAll('-', '_')
  return `REST.${method}.${words.toUpperCase()}`
}
