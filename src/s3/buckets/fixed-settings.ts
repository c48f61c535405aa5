// Settings with one possible value: a read answers with that value, a write of it is accepted and changes nothing, and
// a write of another value is refused.
import type { Receiver } from '#s3/body/receive.ts'
import type { Access } from '#s3/policy/access.ts'
import { present } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { StorageHandler } from '#s3/call.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { xmlFields, wordOf } from '#s3/xml/fields.ts'
import { parseXml } from '#s3/xml/read.ts'
import { writeXml } from '#s3/xml/write.ts'

type FixedSetting = {
  /** The root of its document, and the one element in it. */
  readonly root: string
  readonly element: string
  readonly value: string
  readonly refused: string
  /** The feature that the refused value would switch on. */
  readonly feature: string
  /** A read answers with an empty document. */
  readonly isEmpty?: true
}

/** The owner of a bucket pays for it; every caller pays for its own requests. */
export const REQUEST_PAYMENT: FixedSetting = {
  root: 'RequestPaymentConfiguration',
  element: 'Payer',
  value: 'BucketOwner',
  refused: 'Requester',
  feature: 'Requester pays',
}
export const ACCELERATION: FixedSetting = {
  root: 'AccelerateConfiguration',
  element: 'Status',
  value: 'Suspended',
  refused: 'Enabled',
  feature: 'Transfer acceleration',
  isEmpty: true,
}
export const ABAC: FixedSetting = {
  root: 'AbacStatus',
  element: 'Status',
  value: 'Disabled',
  refused: 'Enabled',
  feature: 'Access by the tags of buckets',
}

export const createGetFixed =
  (
    { access }: { access: Access },
    { root, element, value, isEmpty }: FixedSetting,
  ): StorageHandler =>
  async (request) => {
    await access.bucket(request)
    return xmlReply(writeXml(root, isEmpty === true ? '' : [[element, value]]))
  }

/** Throws NotImplemented for the refused value, MalformedXML. */
export const createPutFixed =
  (
    { access, receiver }: { access: Access; receiver: Receiver },
    { root, element, value, refused, feature }: FixedSetting,
  ): StorageHandler =>
  async (request) => {
    await access.bucket(request)
    const fields = xmlFields(parseXml(await receiver.document(request), root), { [element]: 'one' })
    if (wordOf(present(fields[element], 'a required element'), [value, refused]) === refused)
      throw storageFault('NotImplemented', `${feature} is not implemented`)
    return emptyReply()
  }
