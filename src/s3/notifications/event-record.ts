// An event in AWS's form ("Event message structure", version 2.1), without the facts of its request that are not
// stored: caller, address and request ids.
import type { ObjectEvent } from '#objects/create-events.ts'
import type { Bucket } from '#objects/types.ts'
import { isoTime, urlEncoded } from '#s3/xml/write.ts'

export const eventRecord = (bucket: Bucket, event: ObjectEvent) => ({
  eventVersion: '2.1',
  eventSource: 'aws:s3',
  awsRegion: bucket.region,
  eventTime: isoTime(event.atMs),
  eventName: event.name,
  s3: {
    s3SchemaVersion: '1.0',
    configurationId: event.rule,
    bucket: {
      name: bucket.name,
      ownerIdentity: { principalId: bucket.account },
      arn: `arn:aws:s3:::${bucket.name}`,
    },
    object: {
      // Form encoding: a space is a plus.
      key: urlEncoded(event.key).replaceAll('%20', '+'),
      ...(event.name.startsWith('ObjectRemoved') ? {} : { size: event.size, eTag: event.etag }),
      ...(event.versionId === 'null' ? {} : { versionId: event.versionId }),
      // The later of two events of a key has the greater sequencer.
      sequencer: event.id.toString(16).toUpperCase().padStart(16, '0'),
    },
  },
})
