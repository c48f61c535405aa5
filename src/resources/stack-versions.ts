// Resources of description files of which a new version takes over once it is ready.
import { PASSING_REASONS } from '#contract/resources/passing-reasons.ts'
import type { ActingCall } from '#identity/audit.ts'
import type { ResourceTypeName } from '#stack/resource-types.ts'
import type { Queryable } from '#state/connect.ts'
import type { RollBack } from './roll-back.ts'
import type { ShownResource, ShownVersions } from './shown-resources.ts'
import {
  resourceFailure,
  type FoundResource,
  type StackChange,
  type StackPart,
} from './stack-part.ts'

type StackedVersions = ShownVersions & { readonly live_version: number | null }
type MakeChange<Change, Made> = (
  transaction: Queryable,
  call: ActingCall,
  change: Change,
) => Promise<Made>

/**
 * Makes a version only where an attribute of a version differs. Where none does and the wanted version failed, the live one
 * is as wished, and is wanted again.
 */
export const applyVersions =
  <Type extends ResourceTypeName>(product: {
    /** The attributes that make no version. */
    readonly ofResource: ReadonlySet<string>
    readonly find: (
      transaction: Queryable,
      account: string,
      id: string,
    ) => Promise<ShownResource & StackedVersions>
    readonly rollBack: RollBack
    readonly deploy: MakeChange<StackChange<Type>, { readonly id: string }>
    /** Changes the attributes that make no version. */
    readonly change: MakeChange<StackChange<Type> & { readonly found: FoundResource }, unknown>
  }): StackPart<Type>['apply'] =>
  async (transaction, call, change) => {
    const { wish, found, changed } = change
    const names = [...changed]
    const { ofResource } = product
    const isVersion = found === undefined || names.some((name) => !ofResource.has(name))
    const id = isVersion ? (await product.deploy(transaction, call, change)).id : found.id
    if (found === undefined) return id
    if (!isVersion && resourceFailure(found) !== undefined) {
      const resource = await product.find(transaction, wish.account, id)
      const version = versionThere(resource)
      if (version !== null && version !== resource.version)
        await product.rollBack(transaction, call, { resource, change: { version } })
    }
    if (names.some((name) => ofResource.has(name)))
      await product.change(transaction, call, { ...change, found })
    return id
  }

/** The version as which a resource is compared: of a wanted one that failed, the plan has the changes again. */
export function versionThere({
  version,
  live_version: live,
  versions,
}: StackedVersions): number | null {
  const { failure = null } = versions.find((one) => one.version === version) ?? {}
  return failure === null ? version : live
}

/**
 * Ready: the wanted version is live, or the resource is suspended as its account wants. While a further try runs, the reason
 * is that of the try before.
 */
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
  if (status === 'deploying') return 'waiting'
  if (reason !== null) return PASSING_REASONS.has(reason) ? 'waiting' : { failed: reason }
  return status === 'suspended' || (status === 'deployed' && live === version) ? 'ready' : 'waiting'
}
