// The steps of resources that the description leaves out: after all others, dependents first. A resource that holds a
// thing which a new one wants alone, such as a route, is removed before that one is made.
import { stackPartOf } from '#deployments/parts.ts'
import type { FoundResource, StackAttributes } from '#resources/stack-part.ts'
import { isSameAttribute } from './compare.ts'
import { findOwned, type OwnedResource, type StackId } from './owned.ts'
import type { PlanDeps, PlannedStep } from './plan.ts'

type LeftResource = {
  readonly owned: OwnedResource
  readonly found: FoundResource | undefined
}

type RemovalInput = {
  readonly left: readonly OwnedResource[]
  readonly made: readonly PlannedStep[]
  /** Attributes of the description, by address. */
  readonly wanted: ReadonlyMap<string, StackAttributes>
  readonly allowsDeletion: boolean
}

/** All steps of the plan. */
export async function planRemovals(
  { state, parts }: PlanDeps,
  { account }: StackId,
  { left, made, wanted, allowsDeletion }: RemovalInput,
): Promise<PlannedStep[]> {
  const gone = new Map<string, LeftResource>()
  for (const owned of left) {
    const part = stackPartOf(parts, owned.kind)
    const found = await findOwned(state, part, { account, ...owned })
    gone.set(owned.address, { owned, found })
  }
  const rivals = new Map(
    made.map((step) => {
      const { exclusive } = stackPartOf(parts, step.kind)
      const taken = [...gone].filter(([, { owned, found }]) =>
        exclusive.some(
          (name) =>
            owned.kind === step.kind &&
            isSameAttribute(found?.attributes[name], wanted.get(step.address)?.[name]),
        ),
      )
      return [step.address, taken.map(([address]) => address)] as const
    }),
  )
  const early = withDependents(new Set([...rivals.values()].flat()), gone)
  const later = made.map(({ address }) => address)
  const removals = [...gone].map(([address, one]) =>
    removalOf(one, {
      needs: [...dependentsOf(address, gone), ...(early.has(address) ? [] : later)],
      allowsDeletion,
    }),
  )
  return [
    ...removals.filter(({ address }) => early.has(address)),
    ...made.map((step) => ({
      ...step,
      needs: [...step.needs, ...(rivals.get(step.address) ?? [])],
    })),
    ...removals.filter(({ address }) => !early.has(address)),
  ]
}

const dependentsOf = (address: string, gone: ReadonlyMap<string, LeftResource>): string[] =>
  [...gone].flatMap(([other, { owned }]) => (owned.needs.includes(address) ? [other] : []))

function withDependents(
  addresses: ReadonlySet<string>,
  gone: ReadonlyMap<string, LeftResource>,
): ReadonlySet<string> {
  const all = new Set(addresses)
  for (const address of all) for (const other of dependentsOf(address, gone)) all.add(other)
  return all
}

function removalOf(
  { owned, found }: LeftResource,
  { needs, allowsDeletion }: { readonly needs: readonly string[]; allowsDeletion: boolean },
): PlannedStep {
  const { address, kind, name } = owned
  const isKept = found?.holds !== undefined && !allowsDeletion
  return {
    address,
    kind,
    name,
    action: isKept ? 'keep' : 'delete',
    line: null,
    column: null,
    changes: [],
    outputs: {},
    notes: [
      ...(found === undefined ? ['it was deleted by other means'] : []),
      ...(found?.holds === undefined ? [] : [`it holds data: ${found.holds}`]),
    ],
    needs,
    resource: found?.id ?? null,
  }
}
