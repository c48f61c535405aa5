// The resources that requests use now, each with its instances.
import { Fleet, type InstanceUse } from './fleet.ts'
import type { UseDeps } from './held-instance.ts'
import type { RequestEnding } from './request-ending.ts'
import type { IngressRoute } from './routes.ts'

export interface InstanceUses {
  /**
   * At once where an instance runs; throws, or rejects with, why there is none. Aborts the request with the error for it, when the resource must not be used any more.
   */
  begin(
    route: Pick<IngressRoute, 'id' | 'kind' | 'scale'>,
    ending: RequestEnding,
  ): InstanceUse | Promise<InstanceUse>
  close(): void
}

export function createInstanceUses(
  deps: UseDeps,
  { calmMs }: { readonly calmMs: number },
): InstanceUses {
  const fleets = new Map<string, Fleet>()
  const fleetOf = (route: Pick<IngressRoute, 'id' | 'kind'>): Fleet => {
    const known = fleets.get(route.id)
    if (known !== undefined) return known
    const ended = () => void (fleets.get(route.id) === fleet && fleets.delete(route.id))
    const fleet = new Fleet(route, { ...deps, calmMs, ended })
    fleets.set(route.id, fleet)
    return fleet
  }
  return {
    begin: (route, ending) => fleetOf(route).begin(route.scale, ending),
    close: () => fleets.forEach((fleet) => fleet.close()),
  }
}
