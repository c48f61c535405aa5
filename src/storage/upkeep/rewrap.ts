// After a rotation the data keys of objects are wrapped again by the new version of their named key, a
// bounded number of rows at a call. Bodies are not touched. An envelope that a request writes meanwhile by
// the old version stays readable: no version ever goes.
import type { Queryable, Row } from '#state/connect.ts'
import { rotatedKeys, SETTLED_MS, type RotatedKey } from '#storage/encryption/key-versions.ts'
import { createVault, type Vault } from '#storage/encryption/vault.ts'
import type { Json, JsonObject, Sheet } from '#storage/objects/types.ts'
import type { Encryption } from '#storage/s3/documents/encryption.ts'
import { loadPlace, savePlace } from './place.ts'

const TASK = 'rewrap'

type Place = {
  readonly bucket: number
  readonly key: string
  readonly seq: string
  /** Of each key that was settled when the round began; what was rotated later waits for the next round. */
  readonly versions: Readonly<Record<string, number>>
}
const SEQ_END = '9223372036854775807'

type VersionRow = Row & {
  bucket: number
  key: string
  seq: string
  encryption: Json
  parts: Json
  annotations: Sheet | null
}

/**
 * Wraps the keys of up to `limit` versions again, going on where the last call ended; `done` says that
 * nothing is left to do, or that a rotation is too fresh. Parts of uploads that are not complete keep their envelopes.
 */
export async function rewrapKeys(
  deps: { state: Queryable; secret: string; keyIds: readonly string[] },
  options: { limit: number; signal: AbortSignal; settledMs?: number },
): Promise<{ rewrapped: number; done: boolean }> {
  const { state, secret, keyIds } = deps
  options.signal.throwIfAborted()
  const { limit, settledMs = SETTLED_MS } = options
  const keys = await rotatedKeys(state)
  const settled = keys.filter(({ ageMs }) => ageMs >= settledMs)
  if (!settled.some(({ version, wrapped }) => wrapped < version))
    return { rewrapped: 0, done: true }
  const current = versionsOf(keys)
  const vault = createVault({ secret, keyIds, versionOf: (name) => current.get(name) ?? 1 })
  const saved = await loadPlace(state, TASK)
  const from: Place =
    saved === undefined
      ? { bucket: 0, key: '', seq: SEQ_END, versions: Object.fromEntries(versionsOf(settled)) }
      : (JSON.parse(saved) as Place)
  const rows = await versionsFrom(state, from, limit)
  let rewrapped = 0
  for (const row of rows) {
    options.signal.throwIfAborted()
    if (await rewrapRow(state, vault, row)) rewrapped++
  }
  const last = rows.at(-1)
  if (last !== undefined && rows.length === limit) {
    const { bucket, key, seq } = last
    await savePlace(state, TASK, JSON.stringify({ ...from, bucket, key, seq }))
    return { rewrapped, done: false }
  }
  for (const [name, version] of Object.entries(from.versions))
    await state.query('update storage_keys set wrapped = $2 where name = $1', [name, version])
  await savePlace(state, TASK, undefined)
  return { rewrapped, done: false }
}

const versionsOf = (keys: readonly RotatedKey[]): Map<string, number> =>
  new Map(keys.map(({ name, version }) => [name, version]))

async function versionsFrom(state: Queryable, from: Place, limit: number): Promise<VersionRow[]> {
  const { rows } = await state.query<VersionRow>(
    `select bucket, key, seq, encryption, parts, annotations from object_versions
     where (bucket, key) >= ($1, $2) and (bucket > $1 or key > $2 or seq < $3)
     order by bucket, key, seq desc limit $4`,
    [from.bucket, from.key, from.seq, limit],
  )
  return rows
}

/** Whether anything of it was wrapped again; a version that changed meanwhile is as its writer left it. */
async function rewrapRow(state: Queryable, vault: Vault, row: VersionRow): Promise<boolean> {
  const kept = row.encryption as (JsonObject & Encryption) | null
  if (kept?.kind !== 'SSE-KMS') return false
  const { envelope, ...encryption } = kept
  const again = (given: Json | undefined): Json | undefined =>
    given === undefined || given === null
      ? undefined
      : vault.rewrap(encryption as Encryption, given)
  const own = again(envelope as Json | undefined)
  const parts = row.parts as JsonObject[] | null
  const fresh = parts?.map((part) => {
    const made = again(part['encryption'])
    return made === undefined ? part : { ...part, encryption: made }
  })
  const isPartFresh = fresh?.some((part, index) => part !== parts?.[index]) === true
  const sheetKey = again(row.annotations?.key)
  if (own === undefined && !isPartFresh && sheetKey === undefined) return false
  const { rowCount } = await state.query(
    `update object_versions set encryption = $4, parts = $5,
       annotations = annotations || coalesce($8::jsonb, '{}')
     where bucket = $1 and key = $2 and seq = $3
       and encryption = $6::jsonb and parts is not distinct from $7::jsonb
       and annotations -> 'sheet' is not distinct from $9::jsonb`,
    [
      row.bucket,
      row.key,
      row.seq,
      JSON.stringify(own === undefined ? kept : { ...kept, envelope: own }),
      fresh === undefined ? null : JSON.stringify(fresh),
      JSON.stringify(kept),
      parts === null ? null : JSON.stringify(parts),
      sheetKey === undefined ? null : JSON.stringify({ key: sheetKey }),
      row.annotations === null ? null : JSON.stringify(row.annotations.sheet),
    ],
  )
  return rowCount > 0
}
