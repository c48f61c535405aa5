// The versioning of a bucket.
import type { Receiver } from '#s3/body/receive.ts'
import type { Buckets } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { StorageHandler } from '#s3/call.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { xmlFields, xmlText, wordOf } from '#s3/xml/fields.ts'
import { parseXml } from '#s3/xml/read.ts'
import { writeXml } from '#s3/xml/write.ts'

/** GetBucketVersioning. */
export const createGetBucketVersioning =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const { versioning } = await access.bucket(request)
    const status = { off: undefined, enabled: 'Enabled', suspended: 'Suspended' }[versioning]
    return xmlReply(writeXml('VersioningConfiguration', [['Status', status]]))
  }

/** PutBucketVersioning. Throws MalformedXML, InvalidBucketState (object lock). MFA delete is not served. */
export const createPutBucketVersioning =
  ({
    access,
    buckets,
    receiver,
  }: {
    access: Access
    buckets: Buckets
    receiver: Receiver
  }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const body = parseXml(await receiver.document(request), 'VersioningConfiguration')
    const { Status, MfaDelete } = xmlFields(body, { Status: 'one', MfaDelete: 'optional' })
    if (MfaDelete !== undefined && xmlText(MfaDelete) === 'Enabled')
      throw storageFault('NotImplemented', 'MFA delete is not implemented')
    const status = wordOf(Status, ['Enabled', 'Suspended'])
    await buckets.setVersioning(bucket, status === 'Enabled' ? 'enabled' : 'suspended')
    return emptyReply()
  }
