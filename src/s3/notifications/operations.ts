// The notification configuration of a bucket, and its events, which the bucket's owner can read. Events are not
// delivered anywhere yet, so the only target is the account's own list.
import type { Events } from '#objects/create-events.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Buckets } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { randomUUID } from 'node:crypto'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Json } from '#objects/types.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import type { StorageHandler } from '#s3/call.ts'
import { eventRecord } from './event-record.ts'
import { parseNotification, printNotification } from './notification.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import type { Query } from '#s3/target.ts'

const EVENTS_MAX = 1000

/** GetBucketNotificationConfiguration: an empty document without a configuration. */
export const createGetBucketNotification =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) =>
    xmlReply(printNotification(documentOf(await access.bucket(request), 'notification')))

/** PutBucketNotificationConfiguration. Throws MalformedXML, InvalidArgument (an unknown target). */
export const createPutBucketNotification =
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
    const body = await receiver.document(request)
    const notification = parseNotification(body, { newId: randomUUID, account: bucket.account })
    const value = notification.rules.length === 0 ? null : (notification as unknown as Json)
    await buckets.configure(bucket, 'notification', value)
    return emptyReply()
  }

/**
 * `GET /<bucket>?events`, an extension: a page of events in AWS's form. `after` is the `Next` of an earlier page;
 * `Missed` says that some events after it were dropped. Throws InvalidArgument.
 */
export const createListBucketEvents =
  ({ access, events }: { access: Access; events: Events }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const { query } = request.body.target
    const page = await events.list(bucket, {
      after: query.get('after') ?? '',
      limit: limitOf(query),
    })
    const Records = page.events.map((event) => eventRecord(bucket, event))
    const text = JSON.stringify({ Records, Next: page.next, Missed: page.missed })
    return {
      kind: 'known',
      status: 200,
      contentType: 'application/json',
      bytesExpected: text.length,
      body: () => text,
    }
  }

function limitOf(query: Query): number {
  const text = query.get('max-events') ?? String(EVENTS_MAX)
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= EVENTS_MAX) return limit
  throw storageFault('InvalidArgument', `max-events must be an integer from 1 to ${EVENTS_MAX}`, {
    ArgumentName: 'max-events',
    ArgumentValue: text.slice(0, 100),
  })
}
