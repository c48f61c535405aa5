// POST /bucket?delete: up to 1000 keys or versions, each judged and answered by itself.
import { present } from '#base/errors.ts'
import { STORAGE_ERRORS, type StorageCode } from '#storage/errors.ts'
import type { Deletion } from '#storage/objects/objects.ts'
import type { BatchKey } from '#storage/s3/access-log/record.ts'
import type { StorageHandler } from '#storage/s3/call.ts'
import { deleteConditions } from '#storage/s3/write-conditions.ts'
import type { StorageDeps } from '#storage/s3/deps.ts'
import {
  deletedXml,
  parseDelete,
  type Deleted,
  type DeleteTarget,
  type NotDeleted,
} from '#storage/s3/objects/delete-xml.ts'
import { bypassesGovernance } from '#storage/s3/governance.ts'
import { xmlReply } from '#storage/s3/reply.ts'
import { XML_BYTES_MAX } from '#storage/s3/xml/read.ts'

/** DeleteObjects. Throws NoSuchBucket, MalformedXML; a key that may not be deleted is told in the answer. */
export const createDeleteObjects =
  ({ access, objects, receiver, admitTransfer }: StorageDeps): StorageHandler =>
  async (request) => {
    const bucket = await access.find(request)
    const { quiet, targets } = parseDelete(await receiver.document(request, XML_BYTES_MAX))
    const isAllowed = ({ key, versionId }: DeleteTarget) =>
      access.allows(request, bucket, {
        action: versionId === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion',
        key,
        versionId,
      })
    const allowed = targets.filter(isAllowed)
    const failed: (NotDeleted & { readonly code: StorageCode })[] = targets
      .filter((target) => !allowed.includes(target))
      .map((target) => refused(target, 'AccessDenied'))
    // What strangers may do costs the bucket's owner.
    if (request.who === undefined && allowed.length > 0) await admitTransfer(request, bucket, 0)
    const deleted: Deleted[] = []
    // A policy may let one key's governance be bypassed, and not another's.
    const byBypass = Map.groupBy(allowed, (target) =>
      bypassesGovernance(access, request, bucket, target),
    )
    for (const [bypassGovernance, some] of byBypass) {
      const answers = await objects.delete(bucket, some.map(deletionOf), { bypassGovernance })
      for (const [index, answer] of answers.entries()) {
        const target = present(some[index], 'each answer has its target')
        if ('code' in answer) failed.push(refused(target, answer.code as StorageCode))
        else deleted.push(told(target, answer))
      }
    }
    request.body.trace.batch = [
      ...deleted.map((one): BatchKey => ({ ...named(one), status: 204 })),
      ...failed.map(({ code, ...one }): BatchKey => ({
        ...named(one),
        code,
        status: STORAGE_ERRORS[code][0],
      })),
    ]
    return xmlReply(deletedXml(deleted, failed, quiet))
  }

const deletionOf = ({ key, versionId, conditions }: DeleteTarget): Deletion => ({
  key,
  ...(versionId === undefined ? {} : { versionId }),
  ...deleteConditions(conditions),
})

const named = ({
  key,
  versionId,
}: Pick<DeleteTarget, 'key'> & { versionId?: string | undefined }) => ({
  key,
  ...(versionId === undefined ? {} : { versionId }),
})

const told = (
  target: DeleteTarget,
  answer: { versionId: string | undefined; deleteMarker: boolean },
): Deleted => ({
  ...named(target),
  ...(answer.deleteMarker && answer.versionId !== undefined
    ? { marker: { versionId: answer.versionId } }
    : {}),
})

const refused = (target: DeleteTarget, code: StorageCode) => ({
  ...named(target),
  code,
  message: STORAGE_ERRORS[code][1],
})
