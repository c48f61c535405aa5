// The regions of buckets: only that of the service, whatever name a client has for it.
import { storageFault } from '#contract/storage/storage-errors.ts'

/**
 * The region of a LocationConstraint; undefined without one or for `auto`. Throws InvalidLocationConstraint for any
 * other region, also `us-east-1`, which AWS accepts in no constraint and clients leave out.
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
