// The progress of resources of which a new version takes over once it is ready.
import { CHANGE_UNDER_WAY } from '#contract/function-limits.ts'
import { TRIED_AGAIN } from '#contract/tried-again.ts'
import type { FoundResource } from './stack-part.ts'

/** Reasons that go by themselves. */
const PASSING: ReadonlySet<string> = new Set([CHANGE_UNDER_WAY, TRIED_AGAIN])

/** The live version, where the wanted one has failed. */
export function versionToReturnTo({
  version,
  live_version: live,
  versions,
}: {
  readonly version: number
  readonly live_version: number | null
  readonly versions: readonly { readonly version: number; readonly failure: string | null }[]
}): number | undefined {
  const { failure = null } = versions.find((one) => one.version === version) ?? {}
  return failure === null ? undefined : (live ?? undefined)
}

/** Ready: the wanted version is live, or the resource is suspended as its account wants. */
export function progressOfVersions({
  status,
  reason,
  version,
  live_version: live,
}: {
  readonly status: string
  readonly reason: string | null
  readonly version: number
  readonly live_version: number | null
}): FoundResource['progress'] {
  if (reason !== null) return PASSING.has(reason) ? 'waiting' : { failed: reason }
  return status === 'suspended' || (status === 'deployed' && live === version) ? 'ready' : 'waiting'
}
