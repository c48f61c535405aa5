// Pages of keys, versions and uploads. Each query asks for one entry more than the page, to know whether another page
// follows.
import { present } from '#base/errors.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { storageFault } from '#contract/storage-errors.ts'
import type { ListedObject, ListQuery, Listings } from './objects.ts'
import { type ListedRow, type UploadRow, toListed, toUpload } from './rows.ts'
import type { Bucket, JsonObject } from './types.ts'

export function createListings(deps: { state: Queryable }): Listings {
  const { state } = deps
  return {
    objects: (bucket, query) => listObjects(state, bucket, query),
    versions: (bucket, query) => listVersions(state, bucket, query),
    uploads: (bucket, query) => listUploads(state, bucket, query),
  }
}

/** An entry, or the common prefix that contains it. */
type FoundKey = { key: string; common: string | null }
type ListedFound = ListedRow & FoundKey

const VERSIONS = inColumns<ListedFound & { seq: string }>(
  'storage_list_versions($1, $2, $3, $4, $5, $6)',
  [
    'key',
    'common',
    'version_id',
    'size',
    'etag',
    'checksums',
    'storage_class',
    'owner',
    'modified_at',
    'is_latest',
    'delete_marker',
    'seq',
  ],
)

/** The page of storage_list(): an array for each column, null for a page without entries. */
type ObjectsRow = {
  keys: string[] | null
  /** Null without a delimiter. */
  commons: (string | null)[] | null
  sizes: number[]
  etags: string[]
  checksums: JsonObject[]
  storage_classes: string[]
  owners: string[]
  modified_ms: number[]
}

async function listObjects(
  state: Queryable,
  bucket: Bucket,
  query: ListQuery,
): ReturnType<Listings['objects']> {
  const { limit } = query
  const { rows } = await state.query<ObjectsRow>('select * from storage_list($1, $2, $3, $4, $5)', [
    ...given(bucket, query),
    limit + 1,
  ])
  const page = present(rows[0], 'an aggregate has one row')
  const { keys, commons } = page
  const seen = (keys ?? []).slice(0, limit)
  const entries: ListedObject[] = []
  const commonPrefixes: string[] = []
  for (const [at, key] of seen.entries()) {
    const common = commons?.[at] ?? null
    if (common === null) entries.push(toListedObject(key, page, at))
    else commonPrefixes.push(common)
  }
  const last = commons?.[seen.length - 1] ?? seen.at(-1) ?? query.after
  return { entries, commonPrefixes, truncated: limit > 0 && (keys ?? []).length > limit, last }
}

const toListedObject = (key: string, page: ObjectsRow, at: number): ListedObject => ({
  key,
  size: page.sizes[at] ?? 0,
  etag: page.etags[at] ?? '',
  checksum: listedChecksum(page.checksums[at]),
  storageClass: page.storage_classes[at] ?? '',
  owner: page.owners[at] ?? '',
  modifiedAtMs: page.modified_ms[at] ?? 0,
})

/** The algorithm is the key beside `type`. */
function listedChecksum(checksums: JsonObject = {}): ListedObject['checksum'] {
  const { type } = checksums
  if (typeof type !== 'string') return undefined
  for (const algorithm in checksums) if (algorithm !== 'type') return { algorithm, type }
  return undefined
}

async function listVersions(
  state: Queryable,
  bucket: Bucket,
  query: ListQuery & { afterVersion?: string },
): ReturnType<Listings['versions']> {
  const afterSeq = await seqAfter(state, bucket, query)
  const rows = await VERSIONS.read(state, [...given(bucket, query), afterSeq, query.limit + 1])
  const { page, last } = paged(rows, query.limit, toListed)
  const versionId = last && last.common === null ? markerOf(last.version_id, last.seq) : ''
  return { ...page, last: { key: last?.common ?? last?.key ?? query.after, versionId } }
}

async function listUploads(
  state: Queryable,
  bucket: Bucket,
  query: ListQuery & { afterUpload?: string },
): ReturnType<Listings['uploads']> {
  const { rows } = await state.query<UploadRow & FoundKey>(
    'select * from storage_list_uploads($1, $2, $3, $4, $5, $6)',
    [...given(bucket, query), query.afterUpload ?? '', query.limit + 1],
  )
  const { page, last } = paged(rows, query.limit, toUpload)
  const uploadId = last && last.common === null ? last.id : ''
  return { ...page, last: { key: last?.common ?? last?.key ?? query.after, uploadId } }
}

/**
 * The rows of a function as one row of JSON arrays. For 1001 rows of a listing the client took 7 to 10 ms of CPU for
 * objects and 1.4 to 2.3 ms for arrays; the server took 4.2 and 4.6 ms.
 */
function inColumns<R extends SqlRow>(call: string, names: readonly (keyof R & string)[]) {
  // A JSON number cannot hold a seq.
  const columns = names.map((name) => `json_agg(${name === 'seq' ? 'seq::text' : name}) as ${name}`)
  const text = `select ${columns.join(', ')} from ${call}`
  return {
    async read(state: Queryable, values: readonly unknown[]): Promise<R[]> {
      const { rows } = await state.query<Record<string, unknown[] | null>>(text, values)
      const found = present(rows[0], 'an aggregate has one row')
      const arrays = names.map((name) => found[name] ?? [])
      return (arrays[0] ?? []).map((_, at) => {
        const row: SqlRow = {}
        for (const [column, name] of names.entries()) row[name] = arrays[column]?.[at]
        return row as R
      })
    },
  }
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
