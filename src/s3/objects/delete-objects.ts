// POST /bucket?delete: deletes up to 1000 keys or versions, each judged and answered on its own.
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { Receiver } from '#s3/body/receive.ts'
import { setImmediate as turn } from 'node:timers/promises'
import { present } from '#base/errors.ts'
import { countedWork } from '#charging/counted-work.ts'
import { STORAGE_ERRORS, type StorageCode } from '#contract/storage/storage-errors.ts'
import type { Deletion, Objects } from '#objects/objects.ts'
import type { BatchKey } from '#s3/logging/record.ts'
import type { Bucket } from '#objects/types.ts'
import { checkStranger, type Access } from '#s3/policy/access.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { deleteConditions } from './write-conditions.ts'
import {
  deletedXml,
  parseDelete,
  type DeletedEntry,
  type DeleteTarget,
  type NotDeleted,
} from './delete-xml.ts'
import type { DeleteConditions } from './conditions.ts'
import { bypassesGovernance } from '#s3/lock/governance.ts'
import { removedUnits } from './removed-units.ts'
import { PAGE_DAMAGED_TEXT } from '#s3/render-error.ts'
import { xmlReply } from '#s3/reply.ts'
import { isVersionId, MALFORMED_VERSION_ID } from '#s3/version-id.ts'
import { XML_BYTES_MAX } from '#s3/xml/read.ts'

/**
 * DeleteObjects. Throws NoSuchBucket, MalformedXML, AccessDenied (anonymous callers). The reply names keys that may
 * not be deleted.
 */
export const createDeleteObjects =
  ({
    access,
    objects,
    receiver,
    admitTransfer,
  }: {
    access: Access
    objects: Objects
    receiver: Receiver
    admitTransfer: AdmitTransfer
  }): StorageHandler =>
  async (request) => {
    const bucket = await access.find(request)
    // Before the document is read: an anonymous caller pays nothing.
    checkStranger(request, bucket, ['s3:DeleteObject', 's3:DeleteObjectVersion'])
    // The bucket's owner pays for anonymous callers, also when none of their keys may be deleted.
    if (request.caller === undefined) await admitTransfer(request, bucket, 0)
    const { quiet, targets } = parseDelete(await receiver.document(request, XML_BYTES_MAX))
    const { byBypass, refused: failed } = await judge(access, request, { bucket, targets })
    const deleted: DeletedEntry[] = []
    // The request itself has its first unit.
    let own = 1
    for (const [bypassGovernance, some] of byBypass) {
      for (let at = 0; at < some.length; at += BATCH_KEYS) {
        const batch = some.slice(at, at + BATCH_KEYS)
        const answers = await countedWork(
          request.spend,
          () => objects.delete(bucket, batch.map(deletionOf), { bypassGovernance }),
          (done) => removedUnits(done) - own,
        )
        if (removedUnits(answers) > 0) own = 0
        for (const [index, answer] of answers.entries()) {
          const target = present(batch[index], 'each answer has its target')
          if ('code' in answer) failed.push(notDeleted(target, answer.code as StorageCode))
          else deleted.push(deletedEntry(target, answer))
        }
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

/** Another try of a key behind a damaged page is of no use, and the text of the code asks for one. */
const notDeleted = (target: DeleteTarget, code: StorageCode): NotDeletedYet => ({
  ...refused(target, code),
  ...(code === 'InternalError' && { message: PAGE_DAMAGED_TEXT }),
})

/** Keys of one statement: after each the bill has their cost in PostgreSQL, while that was just seen. */
const BATCH_KEYS = 100

/** Keys that are judged before other requests have a turn. */
const TURN_KEYS = 8

type JudgedKeys = {
  /** The allowed keys by bypass: a policy may allow the bypass for some keys only. */
  readonly byBypass: ReadonlyMap<boolean, readonly DeleteTarget[]>
  readonly refused: NotDeletedYet[]
}

type NotDeletedYet = NotDeleted & { readonly code: StorageCode }

/** Throws AccessDenied when the policy takes too long to judge all of them. */
async function judge(
  access: Access,
  request: StorageRequest,
  { bucket, targets }: { readonly bucket: Bucket; readonly targets: readonly DeleteTarget[] },
): Promise<JudgedKeys> {
  const byBypass = new Map<boolean, DeleteTarget[]>()
  const denied: NotDeletedYet[] = []
  for (const [index, target] of targets.entries()) {
    if (index % TURN_KEYS === TURN_KEYS - 1) {
      // The CPU of judging is this request's.
      request.spend.mark()
      await turn()
      request.signal.throwIfAborted()
    }
    const { key, versionId, conditions } = target
    const action = versionId === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion'
    if (versionId !== undefined && !isVersionId(versionId)) {
      denied.push({ ...refused(target, 'InvalidArgument'), message: MALFORMED_VERSION_ID })
      continue
    }
    const headers = { 'if-match': ifMatchOf(conditions) }
    if (!access.allows(request, bucket, { action, key, versionId, headers })) {
      denied.push(refused(target, 'AccessDenied'))
      continue
    }
    const bypass = bypassesGovernance(access, request, bucket, target)
    const some = byBypass.get(bypass)
    if (some === undefined) byBypass.set(bypass, [target])
    else some.push(target)
  }
  return { byBypass, refused: denied }
}

/** The condition of a key in the document, as the header of a DELETE. The request's own header is ignored. */
const ifMatchOf = ({ etag }: DeleteConditions): string | undefined =>
  etag === undefined || etag === '*' ? etag : `"${etag}"`

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

const deletedEntry = (
  target: DeleteTarget,
  answer: { versionId: string | undefined; deleteMarker: boolean },
): DeletedEntry => ({
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
