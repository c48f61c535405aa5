// The versions of a bucket's keys, page by page: delete markers are among them.
import { ListObjectVersionsCommand } from '@aws-sdk/client-s3'
import { decoded, type ListedEntry } from './objects.ts'
import type { ObjectPlace } from './place.ts'
import type { TransferSession } from './session.ts'

/** A delete marker has no bytes: its size is 0. */
export type ListedVersion = ListedEntry & {
  readonly versionId: string
  readonly isLatest: boolean
  readonly isMarker: boolean
}
export type VersionPage = {
  readonly versions: readonly ListedVersion[]
  readonly prefixes: readonly string[]
}

/** Pages of at most 1000 versions whose keys begin with the place's key, the newest of a key first. */
export async function* versionPagesOf(
  { s3, signal }: TransferSession,
  { bucket, key }: ObjectPlace,
  delimiter?: string,
): AsyncGenerator<VersionPage> {
  let after: { readonly KeyMarker?: string; readonly VersionIdMarker?: string } | undefined = {}
  do {
    const answer = await s3.send(
      new ListObjectVersionsCommand({
        Bucket: bucket,
        Prefix: key,
        Delimiter: delimiter,
        EncodingType: 'url',
        ...after,
      }),
      { abortSignal: signal },
    )
    const { Versions = [], DeleteMarkers = [], CommonPrefixes = [] } = answer
    yield {
      versions: [
        ...Versions.map((version) => listed(version, version.Size)),
        ...DeleteMarkers.map((marker) => listed(marker, undefined)),
      ].toSorted(asListed),
      prefixes: CommonPrefixes.map(({ Prefix = '' }) => decoded(Prefix)),
    }
    after = nextOf(answer)
  } while (after !== undefined)
}

type ToldVersion = {
  readonly Key?: string | undefined
  readonly VersionId?: string | undefined
  readonly IsLatest?: boolean | undefined
  readonly LastModified?: Date | undefined
}

const listed = (entry: ToldVersion, size: number | undefined): ListedVersion => ({
  key: decoded(entry.Key ?? ''),
  size: size ?? 0,
  modified: entry.LastModified?.toISOString() ?? '',
  versionId: entry.VersionId ?? '',
  isLatest: entry.IsLatest === true,
  isMarker: size === undefined,
})

/** The order of the service, which the client loses by making two lists of one. */
const asListed = (one: ListedVersion, other: ListedVersion): number =>
  Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) ||
  Number(other.isLatest) - Number(one.isLatest) ||
  Date.parse(other.modified) - Date.parse(one.modified)

/** The markers of the next page; undefined at the end. */
function nextOf(answer: {
  readonly IsTruncated?: boolean | undefined
  readonly NextKeyMarker?: string | undefined
  readonly NextVersionIdMarker?: string | undefined
}): { readonly KeyMarker: string; readonly VersionIdMarker?: string } | undefined {
  const { IsTruncated, NextKeyMarker: key, NextVersionIdMarker: version } = answer
  if (IsTruncated !== true || key === undefined) return undefined
  return { KeyMarker: decoded(key), ...(version && { VersionIdMarker: version }) }
}
