// What the beginning of an upload said of its object, which its parts and its completion cannot say again: SDKs
// send these headers there only, and policies judge all of them by it.
import type { IncomingHttpHeaders } from 'node:http'
import { present } from '#base/errors.ts'
import { storageFault } from '#contract/storage-errors.ts'
import type { FoundUpload, Uploads } from '#objects/objects.ts'
import type { Bucket, Upload, UploadAttributes } from '#objects/types.ts'
import { checkStranger, type BodySays, type Access } from '#s3/policy/judge.ts'
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

/** Those of the headers that are kept with the upload. */
export function saidAtBeginning(headers: IncomingHttpHeaders): Record<string, string> {
  const said: Record<string, string> = {}
  for (const name of SAID) {
    const value = headers[name]
    if (value !== undefined) said[name] = String(value)
  }
  return said
}

/** What the request for an upload is judged by; uploads from before `said` was kept say nothing. */
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
 * The bucket and the upload of a request, judged by what was said when it began; no upload when there is none, or
 * none since a day. Throws NoSuchBucket, AccessDenied.
 */
export async function findUpload(
  { access, uploads }: { access: Access; uploads: Uploads },
  request: StorageRequest,
): Promise<{ bucket: Bucket; upload: FoundUpload | undefined }> {
  let upload: FoundUpload | undefined
  const bucket = await access.bucketOfUpload(request, async (found) => {
    // Nobody pays for looking up what nobody could allow.
    checkStranger(request, found, [request.body.match.action])
    upload = await uploads.find(found, uploadNameOf(request))
    return upload && saidOfUpload(upload.attributes)
  })
  return { bucket, upload }
}

/** The same of an upload that takes parts. Throws NoSuchUpload too. */
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
