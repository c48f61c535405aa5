// The part of a kind of resource.
import { fault } from '#contract/errors.ts'
import type { StackPart, StackParts } from '#resources/stack-part.ts'
import type { ResourceTypeName } from '#stack/resource-types.ts'

/** A part of any kind: the caller gives it what belongs to its kind. */
export type AnyPart = StackPart<never>

/** Throws invalid_request of a kind that the node does not serve. */
export function stackPartOf(parts: StackParts, kind: ResourceTypeName): AnyPart {
  const part = parts[kind]
  if (part === undefined)
    throw fault('invalid_request', `Could not deploy a ${kind}: this service has none yet`)
  return part as AnyPart
}
