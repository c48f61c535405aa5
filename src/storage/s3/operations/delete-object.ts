// DELETE of one key or version.
import { storageFault } from '#storage/errors.ts'
import type { StorageCode } from '#storage/errors.ts'
import { present } from '#base/errors.ts'
import type { StorageHandler } from '#storage/s3/call.ts'
import { deleteConditions } from '#storage/s3/write-conditions.ts'
import { parseDeleteConditions } from '#storage/s3/objects/conditions.ts'
import type { StorageDeps } from '#storage/s3/deps.ts'
import { bypassesGovernance } from '#storage/s3/governance.ts'
import { emptyReply } from '#storage/s3/reply.ts'

/** DeleteObject: 204 also for what is not there. Throws NoSuchBucket, AccessDenied, PreconditionFailed. */
export const createDeleteObject =
  ({ access, objects }: StorageDeps): StorageHandler =>
  async (request) => {
    const { headers, target } = request.body
    const bucket = await access.bucket(request)
    const versionId = target.query.get('versionId')
    const bypassGovernance = bypassesGovernance(access, request, bucket)
    const [answer] = await objects.delete(
      bucket,
      [
        {
          key: present(target.key, 'an object has a key'),
          ...(versionId === undefined ? {} : { versionId }),
          ...deleteConditions(parseDeleteConditions(headers)),
        },
      ],
      { bypassGovernance },
    )
    const deleted = present(answer, 'a deletion has an answer')
    if ('code' in deleted) throw storageFault(deleted.code as StorageCode)
    return emptyReply(
      {
        ...(deleted.deleteMarker ? { 'x-amz-delete-marker': 'true' } : {}),
        ...(deleted.versionId === undefined ? {} : { 'x-amz-version-id': deleted.versionId }),
      },
      204,
    )
  }
