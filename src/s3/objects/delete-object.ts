// DELETE of one key or version.
import { countedWork } from '#charging/counted-work.ts'
import type { Objects } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { storageFault, type StorageCode } from '#contract/storage/storage-errors.ts'
import { present } from '#base/errors.ts'
import type { StorageHandler } from '#s3/call.ts'
import { deleteConditions } from './write-conditions.ts'
import { parseDeleteConditions } from './conditions.ts'
import { bypassesGovernance } from '#s3/lock/governance.ts'
import { emptyReply } from '#s3/reply.ts'
import { removedUnits } from './removed-units.ts'

/** DeleteObject. A missing object is 204 too. Throws NoSuchBucket, AccessDenied, PreconditionFailed. */
export const createDeleteObject =
  ({ access, objects }: { access: Access; objects: Objects }): StorageHandler =>
  async (request) => {
    const { headers, target } = request.body
    const bucket = await access.bucket(request)
    const versionId = target.query.get('versionId')
    const bypassGovernance = bypassesGovernance(access, request, bucket)
    const deletion = {
      key: present(target.key, 'an object has a key'),
      ...(versionId === undefined ? {} : { versionId }),
      ...deleteConditions(parseDeleteConditions(headers)),
    }
    const [answer] = await countedWork(
      request.spend,
      () => objects.delete(bucket, [deletion], { bypassGovernance }),
      (answers) => removedUnits(answers) - 1,
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
