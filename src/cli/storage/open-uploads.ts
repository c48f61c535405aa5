// Uploads in parts that nobody completed: they keep their parts, which are charged.
import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3'
import { messageOf } from '#base/errors.ts'
import { tell } from '#cli/output.ts'
import { decoded } from './objects.ts'
import { folderOf, placeText, type ObjectPlace } from './place.ts'
import type { TransferSession } from './session.ts'

// For requests after the end of a command.
const ABORT_MS = 30_000

export type OpenUpload = {
  readonly Bucket: string
  readonly Key: string
  readonly UploadId: string
}

/** Aborts an upload after a failure. Its own failure, which leaves the upload open, is reported and not thrown. */
export async function abortUpload({ s3 }: TransferSession, upload: OpenUpload): Promise<void> {
  const asked = new AbortMultipartUploadCommand(upload)
  const address = placeText({ bucket: upload.Bucket, key: upload.Key })
  await s3
    .send(asked, { abortSignal: AbortSignal.timeout(ABORT_MS) })
    .catch((error: unknown) =>
      tell(
        `the parts sent so far stay and are charged (${messageOf(error)}); ` +
          `remove them: ergon storage rm --uploads ${address}`,
      ),
    )
}

/** Aborts every open upload of one key, or with `recursive` of all below a place. Resolves to their number. */
export async function abortUploads(
  session: TransferSession,
  { place, recursive }: { readonly place: ObjectPlace; readonly recursive: boolean },
): Promise<number> {
  const { s3, signal } = session
  const key = recursive ? folderOf(place.key) : place.key
  let aborted = 0
  for await (const upload of openUploads(session, { ...place, key })) {
    if (!recursive && upload.Key !== key) continue
    await s3.send(new AbortMultipartUploadCommand(upload), { abortSignal: signal })
    aborted++
  }
  return aborted
}

/** The open uploads whose keys begin with the place's key. */
async function* openUploads(
  { s3, signal }: TransferSession,
  { bucket, key }: ObjectPlace,
): AsyncGenerator<OpenUpload> {
  let after: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | undefined = {}
  do {
    const asked: ListMultipartUploadsCommandInput = {
      Bucket: bucket,
      Prefix: key,
      EncodingType: 'url',
      ...after,
    }
    const page: ListMultipartUploadsCommandOutput = await s3.send(
      new ListMultipartUploadsCommand(asked),
      { abortSignal: signal },
    )
    for (const { Key = '', UploadId = '' } of page.Uploads ?? [])
      yield { Bucket: bucket, Key: decoded(Key), UploadId }
    after =
      page.IsTruncated === true
        ? {
            KeyMarker: decoded(page.NextKeyMarker ?? ''),
            UploadIdMarker: page.NextUploadIdMarker ?? '',
          }
        : undefined
  } while (after !== undefined)
}
