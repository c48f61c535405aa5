// Where a bucket may be made: in the region of the service, whatever name a client has for it.
import { storageFault } from '#contract/storage-errors.ts'

/**
 * The region that a LocationConstraint asks for; undefined where it asks for none, or leaves the choice to
 * the service by `auto`. Throws InvalidLocationConstraint for a region that no node has: `us-east-1` too,
 * which at AWS no constraint names either, and which clients leave out.
 */
export function askedRegion(constraint: string | undefined, own: string): string | undefined {
  if (constraint === own) return own
  if (constraint === undefined || constraint === '' || constraint === 'auto') return undefined
  throw storageFault(
    'InvalidLocationConstraint',
    `The specified location-constraint is not valid: the regions of this service are ${own}, and auto for any of them`,
    { LocationConstraint: constraint.slice(0, 100), Regions: own },
  )
}
