// The part of a product by which description files make, change and remove its resources. The part reads existing
// resources in the same attributes as wanted ones, and changes them by the functions of the product's own operations.
// So an application refuses, bills and records the same as the operations do.
import type { ActingCall } from '#identity/audit.ts'
import type { ResourceTypeName, SpecOfType } from '#stack/resource-types.ts'
import type { Pending } from '#stack/field.ts'
import type { Queryable } from '#state/connect.ts'

/** A hidden value is compared, and shown to nobody. */
export type StackAttribute = string | { readonly hidden: string } | Pending

/** Attributes by name. One that is absent differs from every value. */
export type StackAttributes = Readonly<Record<string, StackAttribute>>

/** The code of functions, by the path that the description has: the name of the bundled file, and its text. */
export type StackFiles = Readonly<
  Record<string, { readonly file: string; readonly source: string }>
>

/** A resource as the description has it. */
export type StackWish<Type extends ResourceTypeName> = {
  readonly account: string
  readonly name: string
  readonly spec: SpecOfType<Type>
  readonly files: StackFiles
}

/** A resource of a stack. `spec` is undefined once the description lacks it, `id` until the resource is made. */
export type StackTarget<Type extends ResourceTypeName> = {
  readonly account: string
  readonly name: string
  readonly spec: SpecOfType<Type> | undefined
  readonly id: string | undefined
}

export type FoundResource = {
  readonly id: string
  readonly attributes: StackAttributes
  /** Values that other resources may refer to, by the names of the type's outputs. */
  readonly outputs: Readonly<Record<string, string>>
  /** ready: the resource is as the last change wants it. `failed` has the reason why it never will be. */
  readonly progress: 'ready' | 'waiting' | { readonly failed: string }
  /** Data that a removal deletes, in words, such as "12 objects". Such a resource is removed only with permission. */
  readonly holds?: string | undefined
  /** The part of that data, in words, that goes when a change leaves an attribute out, by attribute. */
  readonly dataOf?: Readonly<Record<string, string>>
}

/** Why it will not be as it was asked for. */
export const resourceFailure = (found: FoundResource | undefined): string | undefined =>
  typeof found?.progress === 'object' ? found.progress.failed : undefined

export type StackChange<Type extends ResourceTypeName> = {
  readonly wish: StackWish<Type>
  readonly found: FoundResource | undefined
  /** The names of the attributes that differ; none where what was found has failed, and is tried again. */
  readonly changed: ReadonlySet<string>
}

/** The names and routes that a resource is about to have. */
export type StackClaim = {
  readonly account: string
  readonly name: string
  readonly attributes: StackAttributes
  /** Ids of the resource and of the others in its stack. Names that these give up are free for the resource. */
  readonly besides: readonly string[]
}

export interface StackPart<Type extends ResourceTypeName> {
  /** Outputs that no plan and no answer shows. */
  readonly secretOutputs: readonly string[]
  /**
   * Attributes that no two resources of the account share: one that gives such a value up is removed before another
   * takes it.
   */
  readonly exclusive: readonly string[]
  /** The wished attributes, with defaults for those that the description leaves out. Throws what the operation would refuse. */
  wanted(wish: StackWish<Type>): StackAttributes
  /** Throws the fault of the operation where another resource has a thing that only one may have, such as a route. */
  assertFree?(state: Queryable, claim: StackClaim): Promise<void>
  /** Throws the fault of the operation where it cannot turn the found resource into this. */
  assertChange?(found: FoundResource, wanted: StackAttributes): void
  find(state: Queryable, target: StackTarget<Type>): Promise<FoundResource | undefined>
  /** Makes it, or changes what was found; nothing in the wish is pending. Resolves with its id. */
  apply(transaction: Queryable, call: ActingCall, change: StackChange<Type>): Promise<string>
  /** Does a bounded piece of the removal; `more` asks to be called again. */
  remove(
    transaction: Queryable,
    call: ActingCall,
    found: FoundResource,
  ): Promise<'removed' | 'more'>
}

export type StackParts = { readonly [Type in ResourceTypeName]?: StackPart<Type> }

/** A product's parts. `Settings` is what its agent half gives the gateways (`AgentPart.gateway`). */
export type StackProduct<Settings = never> = {
  /** The name of the product's agent half. */
  readonly name: string
  open(deps: { readonly secret: string }, settings: Settings): StackParts
}

/** The attribute of a value as the description has it; `print` is not asked about a pending one. */
export const attributeOf = <T>(value: T | Pending, print: (value: T) => string): StackAttribute =>
  isPending(value) ? value : print(value)

export const isPending = (value: unknown): value is Pending =>
  typeof value === 'object' && value !== null && 'pending' in value && Array.isArray(value.pending)

/** A value in an application, where nothing is pending. */
export function settled<T>(value: T | Pending): T {
  if (isPending(value)) throw new TypeError(`Pending in an application: ${value.pending.join()}`)
  return value
}
