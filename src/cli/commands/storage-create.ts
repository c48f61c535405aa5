// ergon storage create: a bucket of one's own.
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { printJson, tell } from '#cli/output.ts'
import { bucketOf } from '#cli/storage/place.ts'
import { withSession } from '#cli/storage/session.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const bucket = bucketOf(name)
  const region = typeof options['region'] === 'string' ? options['region'] : undefined
  const cost = await withSession(options, bucket, async ({ s3, tally, signal }) => {
    // Regions are the service's own names; the type of the client lists those of AWS.
    const configuration = {
      LocationConstraint: region,
    } as CreateBucketCommand['input']['CreateBucketConfiguration']
    const asked = new CreateBucketCommand({
      Bucket: bucket,
      CreateBucketConfiguration: region === undefined ? undefined : configuration,
    })
    await s3.send(asked, { abortSignal: signal })
    return tally.cost()
  })
  if (options.json) printJson({ bucket, ...cost })
  // Whoever has it already is answered like whoever just made it.
  else tell(`s3://${bucket} is yours`)
}
