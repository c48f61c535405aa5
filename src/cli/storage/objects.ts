// The keys of a bucket, page by page.
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { CommandError, EXIT } from '#cli/output.ts'
import type { TransferSession } from './session.ts'
import { placeText, type ObjectPlace } from './place.ts'

export type ListedEntry = {
  readonly key: string
  readonly size: number
  readonly modified: string
}
export type ListedPage = {
  readonly objects: readonly ListedEntry[]
  readonly prefixes: readonly string[]
}

/** Pages of at most 1000 keys that begin with the place's key; with a delimiter, folders as one. */
export async function* pagesOf(
  { s3, signal }: TransferSession,
  { bucket, key }: ObjectPlace,
  delimiter?: string,
): AsyncGenerator<ListedPage> {
  let token: string | undefined
  do {
    // Encoded, because XML has no way to write some characters that keys may have.
    const answer = await s3.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: key,
        Delimiter: delimiter,
        ContinuationToken: token,
        EncodingType: 'url',
      }),
      { abortSignal: signal },
    )
    yield {
      objects: (answer.Contents ?? []).map(({ Key = '', Size = 0, LastModified }) => ({
        key: decoded(Key),
        size: Size,
        modified: LastModified?.toISOString() ?? '',
      })),
      prefixes: (answer.CommonPrefixes ?? []).map(({ Prefix = '' }) => decoded(Prefix)),
    }
    token = answer.NextContinuationToken
  } while (token !== undefined)
}

/** A key as it was before `EncodingType: 'url'`. */
export const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

// A plan holds every key: 10⁶ of them take some 200 MiB.
const MOST_OBJECTS = 1_000_000

/** Every object below a prefix; throws a CommandError when there is none. */
export async function objectsBelow(
  session: TransferSession,
  place: ObjectPlace,
): Promise<ListedEntry[]> {
  const found: ListedEntry[] = []
  for await (const { objects } of pagesOf(session, place)) {
    for (const object of objects) found.push(object)
    if (found.length > MOST_OBJECTS)
      throw new CommandError(
        `More than ${MOST_OBJECTS} objects: ${placeText(place)}`,
        EXIT.failed,
        'copy it folder by folder',
      )
  }
  if (found.length === 0)
    throw new CommandError(
      `Nothing is there: ${placeText(place)}`,
      EXIT.failed,
      `ergon storage ls s3://${place.bucket}`,
    )
  return found
}
