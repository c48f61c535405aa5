// The headers of an upload's creation. SDKs do not repeat them for parts and completion, and policies judge all three
// by them.
import type { IncomingHttpHeaders } from 'node:http'
import { present } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { FoundUpload, Uploads } from '#objects/objects.ts'
import type { Bucket, Upload, UploadAttributes } from '#objects/types.ts'
import { checkStranger, type BodySays, type Access } from '#s3/policy/access.ts'
import type { StorageRequest } from '#s3/call.ts'

const SAID = [
  'x-amz-acl',
  'x-amz-grant-full-control',
  'x-amz-grant-read',
  'x-amz-grant-read-acp',
  'x-amz-grant-write',
  'x-amz-grant-write-acp',
  'x-amz-object-lock-legal-hold',
  'x-amz-object-lock-mode',
  'x-amz-object-lock-retain-until-date',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-customer-algorithm',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
] as const

/** The headers that are stored with the upload. */
export function saidAtBeginning(headers: IncomingHttpHeaders): Record<string, string> {
  const said: Record<string, string> = {}
  for (const name of SAID) {
    const value = headers[name]
    if (value !== undefined) said[name] = String(value)
  }
  return said
}

/** The stored headers for judging a request about the upload; uploads from before `said` existed have none. */
function saidOfUpload({ said, tags }: UploadAttributes): BodySays {
  if (said === undefined) return {}
  return {
    headers: Object.fromEntries(SAID.map((name) => [name, said[name]])),
    requestTags: tags,
  }
}

/** The upload that a request names. */
export const uploadNameOf = ({ body: { target } }: StorageRequest) => ({
  key: present(target.key, 'an object has a key'),
  uploadId: target.query.get('uploadId') ?? '',
})

/**
 * The bucket and the upload of a request, judged by the headers of the creation. The upload is undefined when it does
 * not exist or was completed a day ago. Throws NoSuchBucket, AccessDenied.
 */
export async function findUpload(
  { access, uploads }: { access: Access; uploads: Uploads },
  request: StorageRequest,
): Promise<{ bucket: Bucket; upload: FoundUpload | undefined }> {
  let upload: FoundUpload | undefined
  const bucket = await access.bucketOfUpload(request, async (found) => {
    // Checked before the upload is found: an anonymous caller pays nothing.
    checkStranger(request, found, [request.body.match.action])
    upload = await uploads.find(found, uploadNameOf(request))
    return upload && saidOfUpload(upload.attributes)
  })
  return { bucket, upload }
}

/** The bucket and the open upload of a request. Throws NoSuchUpload too. */
export async function findOpenUpload(
  deps: { access: Access; uploads: Uploads },
  request: StorageRequest,
): Promise<{ bucket: Bucket; upload: Upload }> {
  const { bucket, upload } = await findUpload(deps, request)
  if (upload === undefined || upload.isCompleted) {
    const { uploadId } = uploadNameOf(request)
    throw storageFault('NoSuchUpload', undefined, { UploadId: uploadId })
  }
  return { bucket, upload }
}
