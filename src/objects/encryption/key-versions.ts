// Versions of the named keys. A version is derived from the installation's secret, the name and the number, so old
// versions never disappear. The state has the number of the current version; processes read it every few seconds.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'

const LOOK_MS = 5000
/** After this time every process writes with the new version, except for uploads that began before. */
export const SETTLED_MS = 3 * LOOK_MS

export type RotatedKey = {
  readonly name: string
  readonly version: number
  /** The least version of all envelopes. */
  readonly wrapped: number
  readonly rotatedAt: Date
  /** Since the rotation, by the clock of the state. */
  readonly ageMs: number
}

/** The keys that were rotated at least once, by name. */
export async function rotatedKeys(state: Queryable): Promise<RotatedKey[]> {
  const { rows } = await state.query<RotatedKey>(
    `select name, version, wrapped, rotated_at as "rotatedAt",
       (extract(epoch from now() - rotated_at) * 1000)::float8 as "ageMs" from storage_keys order by name`,
  )
  return rows
}

/** Makes the next version of a key current and returns its number. */
export async function rotateKey(state: Queryable, name: string): Promise<number> {
  const { rows } = await state.query<{ version: number }>(
    `insert into storage_keys (name, version) values ($1, 2)
     on conflict (name) do update set version = storage_keys.version + 1, rotated_at = now()
     returning version`,
    [name],
  )
  return rows[0]?.version ?? 1
}

export interface KeyVersions {
  /** The current version of a key, at most some seconds old. */
  versionOf(name: string): number
  close(): void
}

/**
 * Polls the current versions. While the state is unreachable the last known versions are used: all versions can be
 * opened.
 */
export async function followKeyVersions(deps: {
  state: Queryable
  log: Logger
}): Promise<KeyVersions> {
  const { state, log } = deps
  let versions = new Map<string, number>()
  const look = async () => {
    const keys = await rotatedKeys(state)
    versions = new Map(keys.map(({ name, version }) => [name, version]))
  }
  await look()
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    void look()
      .catch((error: unknown) =>
        log.debug('The versions of keys were not read', { error: messageOf(error) }),
      )
      .finally(() => (isLooking = false))
  }, LOOK_MS)
  timer.unref()
  return {
    versionOf: (name) => versions.get(name) ?? 1,
    close: () => clearInterval(timer),
  }
}
