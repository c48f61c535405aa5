// Annotations of versions: one round trip each, except for copies. The rules are in sql/annotation.sql.
import { present } from '#base/errors.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import type { Annotation, Annotations, ObjectTarget, WrittenAnnotation } from './objects.ts'
import { throwRefused } from './refusal.ts'
import type { Bucket, JsonObject, Sheet } from './types.ts'

/** The most annotations of a version (AWS). */
const PER_VERSION_MAX = 1000
/** Annotations in one transaction of a copy: at most 32 MiB. */
const COPIED_AT_ONCE = 32

type AnnotationRow = SqlRow & {
  name: string
  size: number
  etag: string
  checksums: JsonObject
  modified_at: Date
}
const COLUMNS = 'name, size, etag, checksums, modified_at'

export function createAnnotations(deps: { state: Queryable }): Annotations {
  const { state } = deps
  return {
    put: (bucket, target, written) => put(state, bucket, { target, written }),
    async get({ sheet }, name) {
      const { rows } = await state.query<AnnotationRow & { salt: Buffer; body: Buffer }>(
        `select ${COLUMNS}, salt, body from object_annotations where sheet = $1 and name = $2`,
        [sheet, name],
      )
      const [row] = rows
      return row && { ...toAnnotation(row), salt: row.salt, sealed: row.body }
    },
    async delete(bucket, { key, versionId }, { name, ifMatch, bypassGovernance }) {
      const given = { name, ifMatch, bypass: bypassGovernance }
      const { rows } = await state.query<{ refused: string | null }>(
        'select storage_delete_annotation($1, $2, $3, $4) as refused',
        [bucket.id, key, versionId ?? null, JSON.stringify(given)],
      )
      throwRefused(rows[0]?.refused)
    },
    async list({ sheet }, { prefix, after, limit }) {
      const { rows } = await state.query<AnnotationRow>(
        `select ${COLUMNS} from object_annotations
         where sheet = $1 and name > $2 and starts_with(name, $3) order by name limit $4`,
        [sheet, after, prefix, limit + 1],
      )
      return { entries: rows.slice(0, limit).map(toAnnotation), truncated: rows.length > limit }
    },
    async copy({ sheet, count, bytes, changed }, key, signal) {
      const begun = await state.query<{ sheet: string }>(
        `insert into annotation_garbage (sheet, since)
         values (nextval('object_seq'), clock_timestamp()) returning sheet`,
      )
      const copied = Number(present(begun.rows[0], 'a sheet was made').sheet)
      let after: string | null = ''
      while (after !== null) {
        signal.throwIfAborted()
        const copies: { rows: { last: string | null }[] } = await state.query(
          'select storage_copy_sheet($1, $2, $3, $4) as last',
          [sheet, copied, after, COPIED_AT_ONCE],
        )
        after = present(copies.rows[0], 'a copy has an answer').last
      }
      return { sheet: copied, key, count, bytes, changed } satisfies Sheet
    },
  }
}

async function put(
  state: Queryable,
  bucket: Bucket,
  { target, written }: { target: ObjectTarget; written: WrittenAnnotation },
): Promise<{ modifiedAtMs: number }> {
  const { name, size, etag, checksums, encryption, sheet, key, ifMatch, salt, sealed } = written
  const given = {
    name,
    size,
    etag,
    checksums,
    encryption,
    key,
    ifMatch,
    sheet: sheet?.sheet ?? null,
    salt: salt.toString('base64'),
    bypass: written.bypassGovernance,
    most: PER_VERSION_MAX,
  }
  const { rows } = await state.query<{ refused: string | null; modified_ms: string }>(
    'select * from storage_put_annotation($1, $2, $3, $4, $5)',
    [bucket.id, target.key, target.versionId ?? null, JSON.stringify(given), sealed],
  )
  const row = present(rows[0], 'a write has one answer')
  throwRefused(row.refused)
  return { modifiedAtMs: Number(row.modified_ms) }
}

const toAnnotation = (row: AnnotationRow): Annotation => ({
  name: row.name,
  size: row.size,
  etag: row.etag,
  checksums: row.checksums,
  modifiedAtMs: row.modified_at.getTime(),
})
