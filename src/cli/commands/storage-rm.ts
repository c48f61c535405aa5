// ergon storage rm: removes one object, or with --recursive everything below a prefix.
import { DeleteObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { pagesOf } from '#cli/storage/objects.ts'
import { addressOf, folderOf, objectPlaceOf, type ObjectPlace } from '#cli/storage/place.ts'
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
  const { objects, cost } = await withSession(options, place.bucket, async (session) => ({
    objects: recursive ? await removeBelow(session, place) : await removeOne(session, place),
    cost: session.tally.cost(),
  }))
  if (options.json) printJson({ objects, ...cost })
  else tell(`removed ${objects === 1 ? '1 object' : `${objects} objects`}, ${costText(cost)}`)
}

async function removeOne({ s3, signal }: Session, { bucket, key }: ObjectPlace): Promise<number> {
  await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), { abortSignal: signal })
  return 1
}

/** A page of the listing, 1000 keys, is what one request may remove. */
async function removeBelow(session: Session, place: ObjectPlace): Promise<number> {
  const { s3, signal } = session
  let removed = 0
  for await (const { objects } of pagesOf(session, { ...place, key: folderOf(place.key) })) {
    if (objects.length === 0) continue
    const asked = new DeleteObjectsCommand({
      Bucket: place.bucket,
      Delete: { Objects: objects.map(({ key }) => ({ Key: key })), Quiet: true },
    })
    const { Errors: [refused] = [] } = await s3.send(asked, { abortSignal: signal })
    if (refused !== undefined)
      throw new CommandError(
        `Not removed: ${addressOf({ bucket: place.bucket, key: refused.Key ?? '' })}: ${refused.Message ?? ''} (${refused.Code ?? ''})`,
      )
    removed += objects.length
  }
  return removed
}
