// After a rotation the data keys of objects are wrapped by the new version of their named key, a bounded number of
// rows at a call. Bodies stay as they are. An envelope that a request writes meanwhile with the old version stays
// readable, as no version disappears.
import { ErgonError } from '#base/errors.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { rotatedKeys, SETTLED_MS, type RotatedKey } from '#objects/encryption/key-versions.ts'
import { resealed } from '#objects/encryption/seals.ts'
import { createVault, type Vault } from '#objects/encryption/vault.ts'
import type { Objects } from '#objects/objects.ts'
import type { Seals } from '#objects/types.ts'
import { encryptionOf } from '#objects/encryption/encryption.ts'
import { loadPlace, savePlace } from './place.ts'

const TASK = 'rewrap'

type RewrapCursor = {
  readonly bucket: number
  readonly key: string
  readonly seq: string
  /** The version of each key that was settled when the round began; later rotations wait for the next round. */
  readonly versions: Readonly<Record<string, number>>
}
const SEQ_END = '9223372036854775807'

type WrappedVersion = SqlRow & {
  bucket: number
  key: string
  seq: string
  version_id: string
  seals: Seals
}

/**
 * Wraps the keys of up to `limit` versions, from where the last call ended; `done` says that nothing is left to do,
 * or that a rotation is too recent. Parts of open uploads keep their envelopes.
 */
export async function rewrapKeys(
  deps: {
    state: Queryable
    objects: Pick<Objects, 'reseal'>
    secret: string
    keyIds: readonly string[]
  },
  options: { limit: number; signal: AbortSignal; settledMs?: number },
): Promise<{ rewrapped: number; done: boolean }> {
  const { state, objects, secret, keyIds } = deps
  options.signal.throwIfAborted()
  const { limit, settledMs = SETTLED_MS } = options
  const keys = await rotatedKeys(state)
  const settled = keys.filter(({ ageMs }) => ageMs >= settledMs)
  if (!settled.some(({ version, wrapped }) => wrapped < version))
    return { rewrapped: 0, done: true }
  const current = versionsOf(keys)
  const vault = createVault({ secret, keyIds, versionOf: (name) => current.get(name) ?? 1 })
  const saved = await loadPlace(state, TASK)
  const from: RewrapCursor =
    saved === undefined
      ? { bucket: 0, key: '', seq: SEQ_END, versions: Object.fromEntries(versionsOf(settled)) }
      : (JSON.parse(saved) as RewrapCursor)
  const rows = await versionsFrom(state, from, limit)
  let rewrapped = 0
  for (const row of rows) {
    options.signal.throwIfAborted()
    if (await rewrapRow(objects, vault, row)) rewrapped++
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

async function versionsFrom(
  state: Queryable,
  from: RewrapCursor,
  limit: number,
): Promise<WrappedVersion[]> {
  const { rows } = await state.query<WrappedVersion>(
    `select v.bucket, v.key, v.seq, v.version_id, storage_seals(v) as seals from object_versions v
     where (bucket, key) >= ($1, $2) and (bucket > $1 or key > $2 or seq < $3)
     order by bucket, key, seq desc limit $4`,
    [from.bucket, from.key, from.seq, limit],
  )
  return rows
}

/** True when a key of the version was wrapped; a version that changed meanwhile stays as its writer left it. */
async function rewrapRow(
  objects: Pick<Objects, 'reseal'>,
  vault: Vault,
  row: WrappedVersion,
): Promise<boolean> {
  const { bucket, key, version_id: versionId, seals } = row
  const encryption = encryptionOf(seals.encryption)
  if (encryption?.kind !== 'SSE-KMS') return false
  let isFresh = false
  const after = resealed(seals, encryption, (envelope) => {
    const made = vault.rewrap(encryption, envelope)
    isFresh ||= made !== undefined
    return made
  })
  if (!isFresh) return false
  try {
    await objects.reseal(
      { id: bucket },
      { key, versionId },
      { before: seals, after, despiteLock: true },
    )
    return true
  } catch (error) {
    if (error instanceof ErgonError && CHANGED.has(error.code)) return false
    throw error
  }
}

const CHANGED: ReadonlySet<string> = new Set(['ConditionalRequestConflict', 'NoSuchVersion'])
