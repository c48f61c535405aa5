// ergon storage rm: removes one object, or with --recursive everything below a prefix; with --versions
// for good, whatever the bucket keeps.
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { objectPlaceOf, type ObjectPlace } from '#cli/storage/place.ts'
import { counted, removedText, removeObjects, removeVersions } from '#cli/storage/removal.ts'
import { withSession, type Session } from '#cli/storage/session.ts'
import { costText } from '#cli/storage/tally.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [address = ''] }: CommandCall): Promise<void> {
  const place = objectPlaceOf(address)
  const recursive = options['recursive'] === true
  if (place.key === '' && !recursive)
    throw new CommandError(
      `A whole bucket: ${address}`,
      EXIT.usage,
      `ergon storage rm --recursive ${address}, or ergon storage rb ${place.bucket} when it is empty`,
    )
  const versions = options['versions'] === true
  const { removed, cost } = await withSession(options, place.bucket, async (session) => ({
    removed: await remove(session, { place, recursive, versions }),
    cost: session.tally.cost(),
  }))
  if (options.json) printJson({ ...removed, ...cost })
  else tell(`removed ${textOf(removed)}, ${costText(cost)}`)
}

type Asked = {
  readonly place: ObjectPlace
  readonly recursive: boolean
  readonly versions: boolean
}
type Removed = { readonly objects: number } | Awaited<ReturnType<typeof removeVersions>>

async function remove(session: Session, asked: Asked): Promise<Removed> {
  const { place, recursive, versions } = asked
  if (versions) return await removeVersions(session, { place, recursive })
  if (recursive) return { objects: await removeObjects(session, place) }
  const one = new DeleteObjectCommand({ Bucket: place.bucket, Key: place.key })
  await session.s3.send(one, { abortSignal: session.signal })
  return { objects: 1 }
}

const textOf = (removed: Removed): string =>
  'objects' in removed ? counted(removed.objects, 'object') : removedText(removed)
