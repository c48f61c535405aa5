// Evidence packs in a gateway: asked for, listed, given and deleted. A process of its own makes them.
import { openBlobStores } from '#blobs/stores.ts'
import { parsePackRequest } from '#contract/compliance.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createPackContent } from './operations/pack-content.ts'
import { createPackCreate } from './operations/pack-create.ts'
import { createPackDelete, createPackGet, createPackList } from './operations/pack-get.ts'
import type { ComplianceGatewaySettings } from './settings.ts'

export const COMPLIANCE_GATEWAY: GatewayProduct<ComplianceGatewaySettings> = {
  name: 'compliance',
  open,
}

async function open(
  { readers: state, clock, log }: GatewayCore,
  { blobs, keptDays }: ComplianceGatewaySettings,
): Promise<GatewayPart> {
  const { byLocation: stores } = await openBlobStores(blobs, { log, clock })
  const deps = { state, keptDays, nowMs: () => clock.wallMs() }
  return {
    endpoints: {
      'pack.create': { parse: parsePackRequest, handle: createPackCreate(deps) },
      'pack.list': { handle: createPackList(deps) },
      'pack.get': { handle: createPackGet(deps) },
      'pack.content': { handle: createPackContent({ ...deps, stores }) },
      'pack.delete': { handle: createPackDelete(deps) },
    },
  }
}
