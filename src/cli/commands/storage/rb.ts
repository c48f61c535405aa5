// ergon storage rb: removes an empty bucket; with --force, or once a person has confirmed that, any with all that is in it.
import { DeleteBucketCommand, GetBucketVersioningCommand } from '@aws-sdk/client-s3'
import { isPersonThere } from '#cli/ask-person.ts'
import { confirmDeletion, isConfirmed } from '#cli/confirm-deletion.ts'
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
    if (!isConfirmed(options) && (await removeEmpty(session, options, bucket)))
      return { removed: undefined, cost: session.tally.cost() }
    const emptied = await removeVersions(session, { place, recursive: true })
    await removeBucket(session, bucket)
    return { removed: emptied, cost: session.tally.cost() }
  })
  if (options.json) printJson({ bucket, ...removed, ...cost })
  else tell(`removed ${removed === undefined ? '' : `${removedText(removed)}, and `}s3://${bucket}`)
}

/** False where the bucket has objects, and a person has confirmed that these go too. */
async function removeEmpty(
  session: TransferSession,
  options: CommandCall['options'],
  bucket: string,
): Promise<boolean> {
  try {
    await removeBucket(session, bucket)
    return true
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'BucketNotEmpty') throw error
    if (!isPersonThere(options))
      throw commandErrorOf(error, { next: await whatEmpties(session, bucket) })
    const loss = `The bucket ${bucket} would be deleted with every version of its objects, for good`
    const command = `ergon storage rb ${bucket}`
    await confirmDeletion(options, { name: bucket, loss, command })
    return false
  }
}

async function removeBucket({ s3, signal }: TransferSession, bucket: string): Promise<void> {
  await s3.send(new DeleteBucketCommand({ Bucket: bucket }), { abortSignal: signal })
}

/** Where versions were ever kept, removing objects leaves them and delete markers. */
async function whatEmpties({ s3, signal }: TransferSession, bucket: string): Promise<string> {
  const asked = new GetBucketVersioningCommand({ Bucket: bucket })
  const { Status } = await s3.send(asked, { abortSignal: signal })
  const versions = Status === undefined ? '' : ' --versions'
  return `ergon storage rm --recursive${versions} s3://${bucket}, or ergon storage rb --force ${bucket}`
}
