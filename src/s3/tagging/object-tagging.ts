// The tags of a version. Policies may have conditions on the tags that a document sets, so the document is read before
// the caller is judged.
import type { Receiver } from '#s3/body/receive.ts'
import type { Objects } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import type { Tags } from '#objects/types.ts'
import type { StorageHandler } from '#s3/call.ts'
import { versionIdHeader } from '#s3/objects/version-headers.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { parseTagging, printTagging } from './tagging.ts'

/** GetObjectTagging. Throws NoSuchKey, AccessDenied. */
export const createGetObjectTagging =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    return xmlReply(printTagging(version.tags), versionIdHeader(bucket, version.versionId))
  }

/** PutObjectTagging. Throws NoSuchKey, AccessDenied, InvalidTag, MalformedXML. */
export const createPutObjectTagging =
  ({
    access,
    objects,
    receiver,
  }: {
    access: Access
    objects: Objects
    receiver: Receiver
  }): StorageHandler =>
  async (request) => {
    let tags: Tags = {}
    const { bucket, version } = await access.version(request, async () => {
      tags = parseTagging(await receiver.document(request), 'object')
      return { requestTags: tags }
    })
    await objects.amend(bucket, version, { tags })
    return emptyReply(versionIdHeader(bucket, version.versionId))
  }

/** DeleteObjectTagging. Throws NoSuchKey, AccessDenied. */
export const createDeleteObjectTagging =
  ({ access, objects }: { access: Access; objects: Objects }): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    await objects.amend(bucket, version, { tags: {} })
    return emptyReply(versionIdHeader(bucket, version.versionId), 204)
  }
