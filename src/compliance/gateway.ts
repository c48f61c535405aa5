// Evidence packs in a gateway: asked for, listed, given and deleted. A process of its own makes them.
import { openBlobStores } from '#blobs/stores.ts'
import { parsePackRequest } from '#contract/compliance/compliance.ts'
import { recordsOf } from '#http/account-records.ts'
import { findNamed } from '#http/find-named.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createPackContent } from './operations/pack-content.ts'
import { createPackCreate } from './operations/pack-create.ts'
import { createPackDelete, createPackGet, createPackList } from './operations/pack-get.ts'
import type { ComplianceGatewaySettings } from './settings.ts'

/** For the export of an account; the files are downloaded one by one. */
const PACKS_OF = `select id as place, id, from_at as "from", to_at as "to", status, manifest_sha256, created_at
  from evidence_packs where account = $1 and id > $2 order by id limit $3`

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
    lookups: {
      pack: {
        kind: 'evidence_pack',
        find: findNamed(
          state,
          `select status as name, '/v1/compliance/packs/' || id as path from evidence_packs where account = $1 and id = $2`,
        ),
      },
    },
    account: { records: { evidence_pack: recordsOf(state, PACKS_OF) } },
  }
}
