// Pages of keys, versions and uploads. Each query asks for one entry more than the page, to know whether another page
// follows.
import { present } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { ListedObject, ListedTraits, ListQuery, Listings, VersionEntry } from './objects.ts'
import { type UploadRow, toUpload } from './rows.ts'
import type { Bucket, BucketId } from './types.ts'

export function createListings(deps: { lists: Queryable }): Listings {
  const { lists: state } = deps
  return {
    objects: (bucket, query) => listObjects(state, bucket, query),
    versions: (bucket, query) => listVersions(state, bucket, query),
    uploads: (bucket, query) => listUploads(state, bucket, query),
  }
}

/** A key with its entry, or a common prefix without one; of objects also the row of unpacked(). */
type EntryRow = { key: string; entry: string | null }

const OBJECTS = 'select * from storage_list_keys($1, $2, $3, $4, $5)'
const VERSIONS = 'select * from storage_list_versions($1, $2, $3, $4, $5, $6)'
const UPLOADS = 'select * from storage_list_uploads($1, $2, $3, $4, $5, $6)'

async function listObjects(
  state: Queryable,
  bucket: BucketId,
  query: ListQuery,
): ReturnType<Listings['objects']> {
  const { rows } = await state.query<EntryRow>(OBJECTS, [...given(bucket, query), query.limit + 1])
  const { page, last } = paged(unpacked(rows), query.limit, entryReader())
  return { ...page, last: last?.key ?? query.after }
}

/** The common prefixes of a page that has nothing else: one row has their names and, behind a slash, their parent. */
function unpacked(rows: readonly EntryRow[]): readonly EntryRow[] {
  const [first] = rows
  if (first?.entry?.startsWith('/') !== true) return rows
  const parent = first.entry.slice(1)
  const names = first.key.split('/').slice(0, -1)
  return names.map((name) => ({ key: `${parent}${name}/`, entry: null }))
}

/** Reads entries of storage_entry(). Neighbours with the same traits share an object. */
function entryReader(): (row: EntryRow) => ListedObject | undefined {
  const fieldsOf = objectReader()
  return ({ key, entry }) => (entry === null ? undefined : fieldsOf(key, entry.split('\t')))
}

function objectReader(): (key: string, fields: readonly string[]) => ListedObject {
  let text: string | undefined
  let traits = traitsOf('')
  return (key, [size, ms, found = '', etag = '']) => {
    if (found !== text) traits = traitsOf((text = found))
    return { key, size: Number(size), etag, modifiedAtMs: Number(ms), traits }
  }
}

/** The same of storage_version_entry(), which has the id of the version and its kind after them. */
function versionReader(): (row: EntryRow) => VersionEntry | undefined {
  const fieldsOf = objectReader()
  return ({ key, entry }) => {
    if (entry === null) return undefined
    const fields = entry.split('\t')
    const [, , , , versionId = '', kind = ''] = fields
    const { size, etag, modifiedAtMs, traits } = fieldsOf(key, fields)
    const isLatest = kind.includes('l')
    const deleteMarker = kind.includes('d')
    return { key, size, etag, modifiedAtMs, traits, versionId, isLatest, deleteMarker }
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
  bucket: BucketId,
  query: ListQuery & { afterVersion?: string },
): ReturnType<Listings['versions']> {
  const afterSeq = await seqAfter(state, bucket, query)
  const { rows } = await state.query<EntryRow & { seq: string }>(VERSIONS, [
    ...given(bucket, query),
    afterSeq,
    query.limit + 1,
  ])
  const { page, last } = paged(rows, query.limit, versionReader())
  const entry = last === undefined || last.entry === null ? undefined : page.entries.at(-1)
  const versionId = entry && last ? markerOf(entry.versionId, last.seq) : ''
  return { ...page, last: { key: last?.key ?? query.after, versionId } }
}

async function listUploads(
  state: Queryable,
  bucket: Bucket,
  query: ListQuery & { afterUpload?: string },
): ReturnType<Listings['uploads']> {
  const { rows } = await state.query<UploadRow>(UPLOADS, [
    ...given(bucket, query),
    query.afterUpload ?? '',
    query.limit + 1,
  ])
  const { page, last } = paged(rows, query.limit, (row) =>
    row.id === '' ? undefined : toUpload(row),
  )
  return { ...page, last: { key: last?.key ?? query.after, uploadId: last?.id ?? '' } }
}

const given = (bucket: BucketId, { prefix, delimiter, after }: ListQuery) => [
  bucket.id,
  prefix,
  delimiter,
  after,
]

/** Rows without an entry are common prefixes. */
function paged<R extends { key: string }, T>(
  rows: readonly R[],
  limit: number,
  toEntry: (row: R) => T | undefined,
) {
  const seen = rows.slice(0, limit)
  const entries: T[] = []
  const commonPrefixes: string[] = []
  for (const row of seen) {
    const entry = toEntry(row)
    if (entry === undefined) commonPrefixes.push(row.key)
    else entries.push(entry)
  }
  const truncated = limit > 0 && rows.length > limit
  return { page: { entries, commonPrefixes, truncated }, last: seen.at(-1) }
}

// A version may be deleted between two pages, so the marker contains the seq: ids contain it, and the marker of
// `null` does.
const MARKER = /^(?:null\.(?=[0-9a-f]{16}$))?([0-7][0-9a-f]{15})(?:[0-9a-f]{16})?$/

const markerOf = (versionId: string, seq: string): string =>
  versionId === 'null' ? `null.${BigInt(seq).toString(16).padStart(16, '0')}` : versionId

async function seqAfter(
  state: Queryable,
  bucket: BucketId,
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
