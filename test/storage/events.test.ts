// Notifications of buckets: configured with the AWS SDK, written with the object, read by the owner.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetBucketNotificationConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
  type NotificationConfiguration,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'events-part'

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })
before(async () => {
  await s3.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  )
})

const configure = (configuration: NotificationConfiguration) =>
  s3.send(
    new PutBucketNotificationConfigurationCommand({
      Bucket,
      NotificationConfiguration: configuration,
    }),
  )

type Record = {
  readonly eventName: string
  readonly awsRegion: string
  readonly s3: {
    readonly configurationId: string
    readonly bucket: { readonly name: string; readonly arn: string }
    readonly object: {
      readonly key: string
      readonly size?: number
      readonly eTag?: string
      readonly versionId?: string
      readonly sequencer: string
    }
  }
}
type Page = { readonly Records: Record[]; readonly Next: string; readonly Missed: boolean }

const ask = (query: string, token = ergon.token): Promise<Response> =>
  fetch(`${ergon.baseUrl}/${Bucket}?events&${query}`, {
    headers: { authorization: `Bearer ${token}` },
  })

/** A page of at least so many records: transactions that run still hold back what came after them. */
async function pageAfter(after: string, least = 0): Promise<Page> {
  for (let tries = 1200; ; tries--) {
    const answer = await ask(`after=${after}`)
    assert.equal(answer.status, 200)
    const page = (await answer.json()) as Page
    if (page.Records.length >= least || tries === 0) return page
    await pause(50)
  }
}

test('a configuration comes back as it was put; what nothing would tell is refused', async () => {
  const asked = {
    TopicConfigurations: [
      {
        Id: 'pictures',
        TopicArn: `arn:aws:sns:local:${ergon.account}:events`,
        Events: ['s3:ObjectCreated:*' as const, 's3:ObjectRemoved:*' as const],
        Filter: {
          Key: {
            FilterRules: [
              { Name: 'prefix' as const, Value: 'in/' },
              { Name: 'suffix' as const, Value: '.jpg' },
            ],
          },
        },
      },
    ],
  }
  await configure(asked)
  const found = await s3.send(new GetBucketNotificationConfigurationCommand({ Bucket }))
  assert.deepEqual(found.TopicConfigurations, asked.TopicConfigurations)
  const Events = ['s3:ObjectCreated:*' as const]
  const refused: NotificationConfiguration[] = [
    { TopicConfigurations: [{ TopicArn: 'arn:aws:sns:local:acct_other:events', Events }] },
    { TopicConfigurations: [{ TopicArn: 'arn:aws:sns:::elsewhere', Events }] },
    { QueueConfigurations: [{ QueueArn: 'arn:aws:sqs:local:1:queue', Events }] },
    {
      LambdaFunctionConfigurations: [
        { LambdaFunctionArn: 'arn:aws:lambda:local:1:function:f', Events },
      ],
    },
    { EventBridgeConfiguration: {} },
  ]
  for (const configuration of refused)
    await assert.rejects(configure(configuration), { name: 'InvalidArgument' })
  const kept = await s3.send(new GetBucketNotificationConfigurationCommand({ Bucket }))
  assert.deepEqual(kept.TopicConfigurations, asked.TopicConfigurations)
})

test('the owner reads what happened, in the shape of AWS, page by page', async () => {
  const put = await s3.send(new PutObjectCommand({ Bucket, Key: 'in/a b+ü.jpg', Body: '12' }))
  await s3.send(new PutObjectCommand({ Bucket, Key: 'out/a.jpg', Body: '' }))
  await s3.send(
    new CopyObjectCommand({ Bucket, Key: 'in/copy.jpg', CopySource: `${Bucket}/out/a.jpg` }),
  )
  const Body = Buffer.alloc(6_000_000)
  await new Upload({ client: s3, params: { Bucket, Key: 'in/parts.jpg', Body } }).done()
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'in/copy.jpg' }))
  const { Records, Next, Missed } = await pageAfter('', 4)
  assert.deepEqual(
    Records.map(({ eventName, s3: { object } }) => `${eventName} ${object.key}`),
    [
      'ObjectCreated:Put in/a+b%2B%C3%BC.jpg',
      'ObjectCreated:Copy in/copy.jpg',
      'ObjectCreated:CompleteMultipartUpload in/parts.jpg',
      'ObjectRemoved:DeleteMarkerCreated in/copy.jpg',
    ],
  )
  assert.equal(Missed, false)
  const [first, , parts, removed] = Records
  assert.equal(first?.awsRegion, 'local')
  assert.equal(first?.s3.configurationId, 'pictures')
  assert.equal(first?.s3.bucket.arn, `arn:aws:s3:::${Bucket}`)
  assert.equal(`"${first?.s3.object.eTag}"`, put.ETag)
  assert.equal(first?.s3.object.versionId, put.VersionId)
  assert.deepEqual([first?.s3.object.size, parts?.s3.object.size], [2, 6_000_000])
  assert.equal(removed?.s3.object.size, undefined)
  assert.ok((Records[1]?.s3.object.sequencer ?? '') < (removed?.s3.object.sequencer ?? ''))
  assert.deepEqual((await pageAfter(Next)).Records, [])
  const one = (await (await ask('max-events=1')).json()) as Page
  assert.deepEqual([...one.Records, ...(await pageAfter(one.Next)).Records], Records)
  assert.equal((await ask('max-events=0')).status, 400)
})

test('a stranger reads nothing, and without a configuration nothing is written', async () => {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', {
    scope: 'read',
    account: id,
  })
  assert.equal((await ask('', token)).status, 403)
  await configure({})
  const { TopicConfigurations } = await s3.send(
    new GetBucketNotificationConfigurationCommand({ Bucket }),
  )
  assert.equal(TopicConfigurations, undefined)
  const { Next } = await pageAfter('')
  await s3.send(new PutObjectCommand({ Bucket, Key: 'in/late.jpg', Body: '' }))
  assert.deepEqual((await pageAfter(Next)).Records, [])
})
