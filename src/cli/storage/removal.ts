// Removes what a listing shows, a page of at most 1000 with each request.
import { DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { CommandError } from '#cli/output.ts'
import { pagesOf } from './objects.ts'
import { placeText, folderOf, type ObjectPlace } from './place.ts'
import type { TransferSession } from './session.ts'
import { versionPagesOf, type ListedVersion } from './versions.ts'

/** Removes every object below a place; how many. Throws a CommandError for the first that is kept. */
export async function removeObjects(session: TransferSession, place: ObjectPlace): Promise<number> {
  let removed = 0
  for await (const { objects } of pagesOf(session, { ...place, key: folderOf(place.key) })) {
    await remove(session, place.bucket, objects)
    removed += objects.length
  }
  return removed
}

export type RemovedVersions = { readonly versions: number; readonly delete_markers: number }

/**
 * Removes every version and delete marker of one key, or with `recursive` of all below a place.
 * Throws a CommandError for the first that is kept (object lock).
 */
export async function removeVersions(
  session: TransferSession,
  { place, recursive }: { readonly place: ObjectPlace; readonly recursive: boolean },
): Promise<RemovedVersions> {
  const key = recursive ? folderOf(place.key) : place.key
  let removed = 0
  let markers = 0
  for await (const page of versionPagesOf(session, { ...place, key })) {
    const versions = page.versions.filter((version) => recursive || version.key === key)
    await remove(session, place.bucket, versions)
    removed += versions.length
    markers += versions.filter(({ isMarker }) => isMarker).length
    // One key comes before all that begin with it.
    if (versions.length < page.versions.length) break
  }
  return { versions: removed - markers, delete_markers: markers }
}

/** As a person reads it. */
export const removedText = ({ versions, delete_markers: markers }: RemovedVersions): string =>
  `${counted(versions, 'version')} and ${counted(markers, 'delete marker')}`

export const counted = (count: number, what: string): string =>
  count === 1 ? `1 ${what}` : `${count} ${what}s`

type Removable = { readonly key: string } & Partial<Pick<ListedVersion, 'versionId'>>

async function remove(
  { s3, signal }: TransferSession,
  bucket: string,
  entries: readonly Removable[],
): Promise<void> {
  if (entries.length === 0) return
  const Objects = entries.map(({ key, versionId }) => ({ Key: key, VersionId: versionId }))
  const asked = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } })
  const { Errors: [kept] = [] } = await s3.send(asked, { abortSignal: signal })
  if (kept === undefined) return
  const { Key = '', VersionId, Message = '', Code = '' } = kept
  const version = VersionId === undefined ? '' : `, version ${VersionId}`
  throw new CommandError(
    `Not removed: ${placeText({ bucket, key: Key })}${version}: ${Message} (${Code})`,
  )
}
