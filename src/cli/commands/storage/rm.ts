// ergon storage rm: removes one object, or with --recursive everything below a prefix; with --versions
// for good, whatever the bucket keeps; with --uploads the parts of uploads that nobody completed.
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { abortUploads } from '#cli/storage/open-uploads.ts'
import { placeText, objectPlaceOf, type ObjectPlace } from '#cli/storage/place.ts'
import {
  counted,
  removedText,
  removeObjects,
  removeVersions,
  type RemovedVersions,
} from '#cli/storage/removal.ts'
import { withSession, type TransferSession } from '#cli/storage/session.ts'
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
  const uploads = options['uploads'] === true
  if (versions && uploads)
    throw new CommandError('Could not remove both: --versions and --uploads', EXIT.usage)
  const { removed, cost } = await withSession(
    options,
    { bucket: place.bucket },
    async (session) => ({
      removed: await remove(session, { place, recursive, versions, uploads }),
      cost: session.tally.cost(),
    }),
  )
  if (options.json) printJson({ ...removed, ...cost })
  else tell(`${textOf(removed)}, ${costText(cost)}`)
}

type RemovalRequest = {
  readonly place: ObjectPlace
  readonly recursive: boolean
  readonly versions: boolean
  readonly uploads: boolean
}
type RemovedOne = { readonly address: string; readonly delete_marker: boolean }
type Removed =
  | RemovedOne
  | { readonly objects: number }
  | { readonly uploads: number }
  | RemovedVersions

async function remove(session: TransferSession, asked: RemovalRequest): Promise<Removed> {
  const { place, recursive, versions, uploads } = asked
  if (uploads) return { uploads: await abortUploads(session, { place, recursive }) }
  if (versions) return await removeVersions(session, { place, recursive })
  if (recursive) return { objects: await removeObjects(session, place) }
  return await removeOne(session, place)
}

async function removeOne({ s3, signal }: TransferSession, place: ObjectPlace): Promise<RemovedOne> {
  const asked = new DeleteObjectCommand({ Bucket: place.bucket, Key: place.key })
  const { DeleteMarker = false } = await s3.send(asked, { abortSignal: signal })
  return { address: placeText(place), delete_marker: DeleteMarker }
}

/** S3 answers the same whether one object was there or not: nothing is counted then. */
function textOf(removed: Removed): string {
  if ('objects' in removed) return `removed ${counted(removed.objects, 'object')}`
  if ('uploads' in removed) return `removed ${counted(removed.uploads, 'open upload')}`
  if ('versions' in removed) return `removed ${removedText(removed)}`
  const { address, delete_marker: isHidden } = removed
  return isHidden ? `a delete marker hides ${address}` : `nothing is at ${address} now`
}
