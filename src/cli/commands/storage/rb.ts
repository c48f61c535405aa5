// ergon storage rb: removes an empty bucket; with --force any, and all that is in it.
import { DeleteBucketCommand, GetBucketVersioningCommand } from '@aws-sdk/client-s3'
import { printJson, tell } from '#cli/output.ts'
import { commandErrorOf } from '#cli/storage/explain.ts'
import { bucketNamed } from '#cli/storage/place.ts'
import { removedText, removeVersions } from '#cli/storage/removal.ts'
import { withSession, type TransferSession } from '#cli/storage/session.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const bucket = bucketNamed(name)
  const { removed, cost } = await withSession(options, { bucket }, async (session) => {
    const place = { kind: 'object', bucket, key: '' } as const
    const emptied =
      options['force'] === true
        ? await removeVersions(session, { place, recursive: true })
        : undefined
    await removeBucket(session, bucket)
    return { removed: emptied, cost: session.tally.cost() }
  })
  if (options.json) printJson({ bucket, ...removed, ...cost })
  else tell(`removed ${removed === undefined ? '' : `${removedText(removed)}, and `}s3://${bucket}`)
}

async function removeBucket(session: TransferSession, bucket: string): Promise<void> {
  const asked = new DeleteBucketCommand({ Bucket: bucket })
  try {
    await session.s3.send(asked, { abortSignal: session.signal })
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'BucketNotEmpty') throw error
    throw commandErrorOf(error, { next: await whatEmpties(session, bucket) })
  }
}

/** Where versions were ever kept, removing objects leaves them and delete markers. */
async function whatEmpties({ s3, signal }: TransferSession, bucket: string): Promise<string> {
  const asked = new GetBucketVersioningCommand({ Bucket: bucket })
  const { Status } = await s3.send(asked, { abortSignal: signal })
  const versions = Status === undefined ? '' : ' --versions'
  return `ergon storage rm --recursive${versions} s3://${bucket}, or ergon storage rb --force ${bucket}`
}
