// The progress of resources of which a new version takes over once it is ready.
import { PASSING_REASONS } from '#contract/passing-reasons.ts'
import type { Asker } from '#identity/audit.ts'
import type { Queryable } from '#state/connect.ts'
import type { RollBack } from './roll-back.ts'
import type { ShownResources } from './shown-resources.ts'
import { resourceFailure, type FoundResource } from './stack-part.ts'

type StackedVersions = {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly live_version: number | null
  readonly versions: readonly { readonly version: number; readonly failure: string | null }[]
}

/** Where the wanted version failed and the live one is as wished, the live one is wanted again. */
export const returnToLive =
  <Row extends StackedVersions, Settings>(
    { find }: Pick<ShownResources<Row, Settings>, 'find'>,
    rollBack: RollBack,
  ) =>
  async (
    transaction: Queryable,
    asker: Asker,
    account: string,
    found: FoundResource,
  ): Promise<void> => {
    if (resourceFailure(found) === undefined) return
    const resource = await find(transaction, account, found.id)
    const { version, live_version: live, versions } = resource
    const hasFailed = versions.some((one) => one.version === version && one.failure !== null)
    if (hasFailed && live !== null)
      await rollBack(transaction, asker, { resource, change: { version: live } })
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
  if (reason !== null) return PASSING_REASONS.has(reason) ? 'waiting' : { failed: reason }
  return status === 'suspended' || (status === 'deployed' && live === version) ? 'ready' : 'waiting'
}
