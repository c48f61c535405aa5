// An object store of a test's own: a state with two accounts, and objects to write.
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { createLogger } from '#base/log.ts'
import type { Queryable, SqlRow, State } from '#state/connect.ts'
import { connectPipeline } from '#state/pipeline.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { createAnnotations } from './create-annotations.ts'
import { createBuckets } from './create-buckets.ts'
import { createDocuments } from './documents.ts'
import { createListings } from './create-listings.ts'
import { createObjects } from './create-objects.ts'
import type { FoundVersion, ObjectTarget, WrittenAnnotation } from './objects.ts'
import { createUploads } from './create-uploads.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import type { Attributes, Bucket, Part, Sheet } from './types.ts'
import { patientState } from './when-free.ts'

const log = createLogger('test', { level: 'error' })
export const ACCOUNT = 'acct_a'
export const OTHER = 'acct_b'
/** The limit of an account: more than many runs of a property make. */
const BUCKETS_MAX = 100_000
/** A part but the last must have this size in these tests. */
export const PART_SIZE_MIN = 5
/** Opens a state of its own; `urlOf` gives the URL of a schema. Dispose of it to drop it. */
export async function openStore(urlOf: (schema: string) => string, connections: number) {
  const { state, url } = await openTestState({ urlOf, schemas: SCHEMAS, connections })
  await state.query("insert into accounts (id, env) values ($1, 'test'), ($2, 'test')", [
    ACCOUNT,
    OTHER,
  ])
  const documents = createDocuments({ state })
  const pipelined = { address: { url }, connections: Math.ceil(connections / 2), log }
  const finds = connectPipeline(pipelined)
  const puts = connectPipeline(pipelined)
  const clock = systemClock
  const patient = patientState(state, clock)
  return {
    state,
    pipeline: finds,
    puts,
    url,
    documents,
    buckets: createBuckets({ state: patient, finds, documents, clock, bucketsMax: BUCKETS_MAX }),
    objects: createObjects({ state: patient, finds, puts, documents, clock }),
    annotations: createAnnotations({ state: patient }),
    listings: createListings({ lists: finds }),
    uploads: createUploads({ state: patient, clock, partSizeMin: PART_SIZE_MIN }),
    async [Symbol.asyncDispose]() {
      await finds[Symbol.asyncDispose]()
      await puts[Symbol.asyncDispose]()
      await state[Symbol.asyncDispose]()
    },
  }
}
/** Asks each statement once, on a connection that outlives its errors: a pool hides a deadlock, and forgets settings. */
export const askedOnce = (state: State): Queryable => ({
  query: (text, values) => state.session((session) => session.query(text, values)),
})

export type Store = Awaited<ReturnType<typeof openStore>>

/** Opens a store for the tests of a file, and closes it after them; nothing where there can be no state. */
export function withStore(connections: number, opened: (store: Store) => void): void {
  const opening = new AsyncDisposableStack()
  before(async () => {
    if (whyNoState() !== false) return
    const server = opening.use(await openTestUrl())
    opened(opening.use(await openStore(server.of, connections)))
  })
  after(() => opening.disposeAsync())
}

export async function makeBucket(store: Store, name: string): Promise<Bucket> {
  const given = { name, account: ACCOUNT, region: 'local', objectLock: false, configurations: {} }
  return (await store.buckets.create(given)).bucket
}

export const attributes = (etag: string, size: number): Attributes => ({
  etag,
  size,
  checksums: { CRC32: etag },
  headers: { 'content-type': 'text/plain' },
  metadata: { colour: 'blå' },
  tags: {},
  acl: null,
  retention: null,
  legalHold: false,
  encryption: null,
  storageClass: 'STANDARD',
  owner: ACCOUNT,
})

/** Attributes of which none is alike for seeds that follow each other, and each that may be absent is so for some. */
export const variedAttributes = (seed: number, size: number): Attributes => ({
  etag: `e-${seed}`,
  size,
  checksums: { type: 'FULL_OBJECT', CRC32: `c${seed}` },
  headers: { 'content-type': `text/${seed}` },
  metadata: { colour: `blå ${seed}` },
  tags: seed % 3 === 0 ? {} : { tag: `${seed}` },
  acl: seed % 4 === 0 ? null : { grants: [`g${seed}`] },
  retention:
    seed % 5 === 0
      ? null
      : { mode: seed % 2 === 0 ? 'GOVERNANCE' : 'COMPLIANCE', untilMs: RETAINED_MS + seed },
  legalHold: [null, true, false][seed % 3] ?? null,
  encryption: seed % 4 === 1 ? null : { envelope: `k${seed}` },
  storageClass: seed % 2 === 0 ? 'STANDARD' : 'STANDARD_IA',
  owner: seed % 2 === 0 ? ACCOUNT : OTHER,
})
const RETAINED_MS = Date.UTC(2100, 0)

export const inlineObject = (text: string) => ({
  attributes: attributes(`e-${text}`, Buffer.byteLength(text)),
  body: { kind: 'inline', bytes: Buffer.from(text) } as const,
})

/** A part whose blob exists in the state alone. */
export const part = (number: number, size: number, etag: string): Part => ({
  number,
  size,
  etag,
  checksums: {},
  encryption: null,
  blob: { location: 'fs', id: randomUUID(), size, checksum: 'crc32:00000000' },
})

export const partsObject = (etag: string, sizes: readonly number[]) => ({
  attributes: attributes(
    etag,
    sizes.reduce((total, size) => total + size, 0),
  ),
  body: {
    kind: 'parts',
    parts: sizes.map((size, at) => part(at + 1, size, `${etag}-${at}`)),
  } as const,
})

export const annotation = (name: string, text: string, sheet: Sheet | null): WrittenAnnotation => ({
  name,
  size: Buffer.byteLength(text),
  etag: 'e',
  checksums: {},
  salt: randomBytes(16),
  sealed: Buffer.from(text),
  encryption: null,
  sheet,
  key: { key: 'root' },
  ifMatch: undefined,
  bypassGovernance: false,
})

/** Broken invariants of the state; an empty list when all hold. */
export async function brokenRules(state: State): Promise<string[]> {
  const { rows } = await state.query<{ broken: string }>(`
    select 'not one latest: ' || key as broken from object_versions group by bucket, key
      having count(*) filter (where is_latest) <> 1
        or max(seq) <> max(seq) filter (where is_latest)
    union all
    select 'usage of bucket ' || coalesce(u.bucket, v.bucket) from
      (select bucket, sum(bytes) as bytes, sum(versions) as versions, sum(uploads) as uploads
        from bucket_usage group by bucket) u
      full join (select bucket, sum(bytes) as bytes, sum(versions) as versions, sum(uploads) as uploads from (
        select bucket, storage_stored(o) as bytes, 1 as versions, 0 as uploads from object_versions o
        union all select bucket, own_bytes, 0, 1 from uploads where completed is null
        union all select bucket, size, 0, 0 from upload_parts p join uploads o on o.id = p.upload
      ) counted group by bucket) v
      on u.bucket = v.bucket
      where coalesce(u.bytes, 0) <> coalesce(v.bytes, 0) or coalesce(u.versions, 0) <> coalesce(v.versions, 0)
        or coalesce(u.uploads, 0) <> coalesce(v.uploads, 0)
    union all
    select 'annotations of sheet ' || coalesce(v.sheet, a.sheet) from
      (select (annotations ->> 'sheet')::bigint as sheet, (annotations ->> 'count')::bigint as count,
        storage_sheet_bytes(annotations) as bytes from object_versions where annotations is not null) v
      full join (select sheet, count(*) as count, sum(size + octet_length(name)) as bytes from object_annotations
        where sheet not in (select sheet from annotation_garbage) group by sheet) a using (sheet)
      where coalesce(v.count, 0) <> coalesce(a.count, 0) or coalesce(v.bytes, 0) <> coalesce(a.bytes, 0)
    union all
    select 'refs of blob ' || coalesce(b.id, n.id) from blobs b full join (
      select id, count(*) as refs from (
        select (part ->> 'blob')::uuid as id from object_versions, jsonb_array_elements(parts) part
        union all select blob from upload_parts
      ) named group by id
    ) n on n.id = b.id where b.refs is distinct from n.refs
    union all
    select 'folder ' || parent || name from
      (select *, true as is_kept from object_folders where name <> '') f
      full join (select distinct v.bucket, w.parent, w.name, true as is_wanted from object_versions v, storage_folders_of(v.key) k,
          unnest(k.parents, k.names) w (parent, name)
        where v.is_latest and not v.delete_marker and w.name <> '') w using (bucket, parent, name)
      where is_kept is null or is_wanted is null
    union all
    select 'keys of folder ' || w.parent from object_versions v, storage_folders_of(v.key) k,
      unnest(k.parents, k.names) w (parent, name)
      where v.is_latest and not v.delete_marker and w.name = '' and not exists (select from object_folders f
        where f.bucket = v.bucket and f.parent = w.parent and f.name = '')
    union all
    select 'own keys of no folder ' || f.parent from object_folders f
      where f.name = '' and f.parent <> '' and not exists (select from object_versions v
        where v.bucket = f.bucket and v.is_latest and not v.delete_marker
          and v.key >= f.parent and v.key < storage_beyond(f.parent))
    union all
    select 'garbage that is named: ' || g.id from blob_garbage g join blobs b using (location, id)`)
  return rows.map(({ broken }) => broken)
}

/** For assert.rejects(): an error with this code. */
export const refused = (code: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === code

/** The version that a target names. Throws NoSuchKey, NoSuchVersion. */
export async function readVersion(
  store: Store,
  bucket: Bucket,
  target: ObjectTarget,
): Promise<FoundVersion> {
  const { found } = await store.objects.find(bucket.name, target)
  if (found !== undefined) return found
  throw storageFault(target.versionId === undefined ? 'NoSuchKey' : 'NoSuchVersion')
}

/** Objects over a state that does something to what is asked, or to what is answered. */
export const objectsOver = (
  store: Store,
  change: { values?(values: unknown[]): void; rows?(rows: SqlRow[]): void; failed?(): void } = {},
) => {
  const state: Queryable = {
    async query<R extends SqlRow>(text: string, values: readonly unknown[] = []) {
      const given = [...values]
      change.values?.(given)
      try {
        const result = await askedOnce(store.state).query<R>(text, given)
        change.rows?.(result.rows)
        return result
      } catch (error) {
        change.failed?.()
        throw error
      }
    },
  }
  return createObjects({
    state,
    finds: state,
    puts: state,
    documents: store.documents,
    clock: systemClock,
  })
}

/** The end of each put: `put`, or the code of its refusal. */
export const endsOf = async (puts: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(puts)).map((end) =>
    end.status === 'fulfilled' ? 'put' : String(end.reason.code),
  )
