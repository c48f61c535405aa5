// ergon storage rb: removes an empty bucket.
import { DeleteBucketCommand } from '@aws-sdk/client-s3'
import { printJson, tell } from '#cli/output.ts'
import { bucketOf } from '#cli/storage/place.ts'
import { withSession } from '#cli/storage/session.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const bucket = bucketOf(name)
  const cost = await withSession(options, bucket, async ({ s3, tally, signal }) => {
    await s3.send(new DeleteBucketCommand({ Bucket: bucket }), { abortSignal: signal })
    return tally.cost()
  })
  if (options.json) printJson({ bucket, ...cost })
  else tell(`removed s3://${bucket}`)
}
