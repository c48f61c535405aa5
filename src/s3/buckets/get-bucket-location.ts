// GET /bucket?location: the region of a bucket.
import type { Access } from '#s3/policy/access.ts'
import type { StorageHandler } from '#s3/call.ts'
import { xmlReply } from '#s3/reply.ts'
import { writeXml } from '#s3/xml/write.ts'

/** GetBucketLocation. For us-east-1 the element is empty, as at AWS. */
export const createGetBucketLocation =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const { region } = await access.bucket(request)
    return xmlReply(writeXml('LocationConstraint', region === 'us-east-1' ? '' : region))
  }
