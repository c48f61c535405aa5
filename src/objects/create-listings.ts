// Pages of keys, versions and uploads. Each query asks for one entry more than the page, to know whether another page
// follows.
import { present } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { storageFault } from '#contract/storage-errors.ts'
import type { ListedObject, ListedTraits, ListQuery, Listings } from './objects.ts'
import { type ListedRow, type UploadRow, toListed, toUpload } from './rows.ts'
import type { Bucket } from './types.ts'

export function createListings(deps: { lists: Queryable }): Listings {
  const { lists: state } = deps
  return {
    objects: (bucket, query) => listObjects(state, bucket, query),
    versions: (bucket, query) => listVersions(state, bucket, query),
    uploads: (bucket, query) => listUploads(state, bucket, query),
  }
}

/** An entry, or the common prefix that contains it. */
type FoundKey = { key: string; common: string | null }
type ObjectRow = FoundKey & { entry: string | null }

const OBJECTS = 'select * from storage_list_objects($1, $2, $3, $4, $5)'
const VERSIONS = `select key, common, version_id, size::float8, etag, checksums, storage_class, owner, modified_at,
  is_latest, delete_marker, seq from storage_list_versions($1, $2, $3, $4, $5, $6)`
const UPLOADS = 'select * from storage_list_uploads($1, $2, $3, $4, $5, $6)'

async function listObjects(
  state: Queryable,
  bucket: Bucket,
  query: ListQuery,
): ReturnType<Listings['objects']> {
  const { rows } = await state.query<ObjectRow>(OBJECTS, [...given(bucket, query), query.limit + 1])
  const { page, last } = paged(rows, query.limit, entryReader())
  return { ...page, last: last?.common ?? last?.key ?? query.after }
}

/** Reads entries of storage_entry(). Neighbours with the same traits share an object. */
function entryReader(): (row: ObjectRow) => ListedObject {
  let text: string | undefined
  let traits = traitsOf('')
  return ({ key, entry }) => {
    const [size, ms, found = '', etag = ''] = present(entry, 'an object has an entry').split('\t')
    if (found !== text) traits = traitsOf((text = found))
    return { key, size: Number(size), etag, modifiedAtMs: Number(ms), traits }
  }
}

function traitsOf(text: string): ListedTraits {
  const [storageClass = '', owner = '', type = '', algorithm = ''] = text.split(' ')
  return {
    storageClass,
    owner,
    checksum: type === '' || algorithm === '' ? undefined : { algorithm, type },
  }
}

async function listVersions(
  state: Queryable,
  bucket: Bucket,
  query: ListQuery & { afterVersion?: string },
): ReturnType<Listings['versions']> {
  const afterSeq = await seqAfter(state, bucket, query)
  const { rows } = await state.query<ListedRow & FoundKey & { seq: string }>(VERSIONS, [
    ...given(bucket, query),
    afterSeq,
    query.limit + 1,
  ])
  const { page, last } = paged(rows, query.limit, toListed)
  const versionId = last && last.common === null ? markerOf(last.version_id, last.seq) : ''
  return { ...page, last: { key: last?.common ?? last?.key ?? query.after, versionId } }
}

async function listUploads(
  state: Queryable,
  bucket: Bucket,
  query: ListQuery & { afterUpload?: string },
): ReturnType<Listings['uploads']> {
  const { rows } = await state.query<UploadRow & FoundKey>(UPLOADS, [
    ...given(bucket, query),
    query.afterUpload ?? '',
    query.limit + 1,
  ])
  const { page, last } = paged(rows, query.limit, toUpload)
  const uploadId = last && last.common === null ? last.id : ''
  return { ...page, last: { key: last?.common ?? last?.key ?? query.after, uploadId } }
}

const given = (bucket: Bucket, { prefix, delimiter, after }: ListQuery) => [
  bucket.id,
  prefix,
  delimiter,
  after,
]

function paged<R extends FoundKey, T>(rows: readonly R[], limit: number, toEntry: (row: R) => T) {
  const seen = rows.slice(0, limit)
  const page = {
    entries: seen.filter((row) => row.common === null).map(toEntry),
    commonPrefixes: seen.flatMap((row) => row.common ?? []),
    truncated: limit > 0 && rows.length > limit,
  }
  return { page, last: seen.at(-1) }
}

// A version may be deleted between two pages, so the marker contains the seq: ids contain it, and the marker of
// `null` does.
const MARKER = /^(?:null\.(?=[0-9a-f]{16}$))?([0-7][0-9a-f]{15})(?:[0-9a-f]{16})?$/

const markerOf = (versionId: string, seq: string): string =>
  versionId === 'null' ? `null.${BigInt(seq).toString(16).padStart(16, '0')}` : versionId

async function seqAfter(
  state: Queryable,
  bucket: Bucket,
  query: ListQuery & { afterVersion?: string },
): Promise<string | null> {
  const { after, afterVersion = '' } = query
  if (afterVersion === '') return null
  if (afterVersion === 'null') {
    const { rows } = await state.query<{ seq: string | null }>(
      "select storage_find($1, $2, 'null') as seq",
      [bucket.id, after],
    )
    return present(rows[0], 'a function has an answer').seq
  }
  const hex = MARKER.exec(afterVersion)?.[1]
  if (hex === undefined) throw storageFault('InvalidArgument', 'Invalid version id specified')
  return BigInt(`0x${hex}`).toString()
}
