// ergon storage create: a bucket of one's own, in the region that was asked for.
import { CreateBucketCommand, HeadBucketCommand } from '@aws-sdk/client-s3'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { bucketNamed } from '#cli/storage/place.ts'
import { withSession, type TransferSession } from '#cli/storage/session.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const bucket = bucketNamed(name)
  const region = options['region']
  const wanted = typeof region === 'string' && region !== 'auto' ? region : ''
  const made = await withSession(options, { bucket }, async (session) => {
    await create(session, bucket, wanted)
    const region = await regionOf(session, bucket)
    if (wanted !== '' && region !== wanted)
      throw new CommandError(
        `s3://${bucket} is yours already, in region ${region}`,
        EXIT.failed,
        `another name, or ergon storage rb ${bucket} first`,
      )
    return { bucket, region, ...session.tally.cost() }
  })
  if (options.json) printJson(made)
  else tell(`s3://${bucket} is yours, in region ${made.region}`)
}

/** A caller who already owns the bucket gets the same answer as a caller who has just created the bucket. */
async function create(
  { s3, signal }: TransferSession,
  bucket: string,
  region: string,
): Promise<void> {
  // Regions are the service's own names; the type of the client lists those of AWS.
  const configuration = {
    LocationConstraint: region,
  } as CreateBucketCommand['input']['CreateBucketConfiguration']
  const asked = new CreateBucketCommand({
    Bucket: bucket,
    CreateBucketConfiguration: region === '' ? undefined : configuration,
  })
  try {
    await s3.send(asked, { abortSignal: signal })
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'BucketAlreadyOwnedByYou') throw error
  }
}

async function regionOf({ s3, signal }: TransferSession, bucket: string): Promise<string> {
  const asked = new HeadBucketCommand({ Bucket: bucket })
  return (await s3.send(asked, { abortSignal: signal })).BucketRegion ?? ''
}
