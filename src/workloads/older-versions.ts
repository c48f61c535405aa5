// Versions whose instances run, and those of them that other versions have replaced: these answer their last requests. Their
// images are in use, and count in the quota of their account.
import { unlessAborted } from '#base/unless-aborted.ts'
import type { Instances } from '#resources/instances.ts'
import type { Queryable } from '#state/connect.ts'
import type { RunningWorkload } from './driver.ts'
import { versionOfKey, type Versioned, type VersionedInstance } from './versioned.ts'

type AllInstances = Pick<Instances<VersionedInstance, RunningWorkload>, 'running' | 'stop'>
type OlderParts = { readonly state: Queryable; readonly instances: AllInstances }

/** The versions of an account that have instances, as keep_image() reads them. */
export const versionsInUse = (
  instances: Pick<AllInstances, 'running'>,
  account: string,
): readonly string[] => [
  ...new Set(
    instances.running().flatMap((one) => (one.account === account ? [versionOfKey(one.key)] : [])),
  ),
]

/**
 * Ends the instances of an account whose versions are neither wanted nor live, but those of the version that asks: its start
 * may wait for this. The wait ends with the signal, the instances end in any case: two starts of replaced versions that ask
 * at once wait for each other.
 */
export const endOlderVersions = (
  parts: OlderParts,
  asking: Pick<Versioned, 'id' | 'account' | 'version'>,
  signal: AbortSignal,
): Promise<void> =>
  endSome(parts, {
    versions: versionsInUse(parts.instances, asking.account).filter(
      (name) => name !== `${asking.id} ${asking.version}`,
    ),
    which: `join resources n on n.id = v.workload
     where v.version is distinct from n.version and v.version is distinct from n.live_version`,
    signal,
  })

/** Ends the instances of an account whose versions are kept no more: their images would count nowhere. */
export const endForgottenVersions = (
  parts: OlderParts,
  account: string,
  signal: AbortSignal,
): Promise<void> =>
  endSome(parts, {
    versions: versionsInUse(parts.instances, account),
    which: `where not exists (select from workload_versions k where k.workload = v.workload and k.version = v.version)`,
    signal,
  })

type Ending = {
  readonly versions: readonly string[]
  /** The rest of a query of the versions `v`. */
  readonly which: string
  readonly signal: AbortSignal
}

async function endSome(
  { state, instances }: OlderParts,
  { versions, which, signal }: Ending,
): Promise<void> {
  const { rows } = await state.query<{ name: string }>(
    `select v.name from (
       select name, split_part(name, ' ', 1) as workload, split_part(name, ' ', 2)::int as version
       from unnest($1::text[]) o (name)
     ) v ${which}`,
    [versions],
  )
  const names = new Set(rows.map(({ name }) => name))
  const keys = instances.running().flatMap(({ key }) => (names.has(versionOfKey(key)) ? [key] : []))
  const ended = Promise.all(keys.map((key) => instances.stop(key, 'change')))
  await unlessAborted(ended, signal)
}
