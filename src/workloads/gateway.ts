// Workloads in a gateway: the API that deploys, lists and changes them. No request to a workload passes here.
import { parseRegistryLogin } from '#contract/workloads/registries.ts'
import * as workloads from '#contract/workloads/workloads.ts'
import { recordsOf } from '#http/account-records.ts'
import { resourceLookup } from '#http/find-named.ts'
import { createIntervalList } from '#http/interval-list.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import {
  createResourceChange,
  createResourceDelete,
  createResourceDeploy,
  createResourceGet,
  createResourceList,
} from '#http/resource-operations.ts'
import { deployWorkload } from './operations/workload-deploy.ts'
import { SHOWN_WORKLOADS } from './find-workload.ts'
import { createWorkloadEnergy } from './operations/workload-energy.ts'
import { createWorkloadLogs } from './operations/workload-logs.ts'
import { createWorkloadRollBack } from './operations/workload-rollback.ts'
import { createWorkloadScale, createWorkloadUpdate } from './operations/workload-update.ts'
import { wishWorkload } from './operations/workload-suspend.ts'
import { createRegistryList } from './registries/registry-list.ts'
import { createRegistryLogin } from './registries/registry-login.ts'
import { createRegistryLogout } from './registries/registry-logout.ts'
import type { WorkloadGatewaySettings } from './settings.ts'

/** For the export: each workload as the version that answers has it. */
const WORKLOADS_OF = `select n.id as place, n.id, n.name, n.region, w.host, n.hosts, n.actual as status, n.version,
    n.live_version, w.scale_min, w.scale_max, w.target_requests, w.sleep_after_ms,
    n.created_at, v.image, v.digest, v.port, v.command,
    v.env_names, v.secret_names, v.cpu_milli, v.memory_bytes::text, v.health, v.volumes
  from resources n join workloads w using (id)
    join workload_versions v on v.workload = w.id and v.version = coalesce(n.live_version, n.version)
  where n.account = $1 and n.desired <> 'deleted' and n.id > $2 order by n.id limit $3`

/** For the export: without the passwords. */
const REGISTRIES_OF = `select registry as place, registry, username, created_at, updated_at
  from registry_passwords where account = $1 and registry > $2 order by registry limit $3`

export const WORKLOADS_GATEWAY: GatewayProduct<WorkloadGatewaySettings> = {
  name: 'workloads',
  open,
}

function open(
  { readers: state, clock }: GatewayCore,
  settings: WorkloadGatewaySettings,
): GatewayPart {
  const deps = { state, settings }
  const { parseWorkloadRequest, parseWorkloadChange, parseWorkloadScale } = workloads
  return {
    endpoints: {
      'workload.deploy': {
        parse: parseWorkloadRequest,
        handle: createResourceDeploy(SHOWN_WORKLOADS, deps, deployWorkload),
      },
      'workload.list': { handle: createResourceList(SHOWN_WORKLOADS, deps) },
      'workload.get': { handle: createResourceGet(SHOWN_WORKLOADS, deps) },
      'workload.update': { parse: parseWorkloadChange, handle: createWorkloadUpdate(deps) },
      'workload.delete': { handle: createResourceDelete(SHOWN_WORKLOADS, deps) },
      'workload.logs': { handle: createWorkloadLogs({ state }) },
      'workload.energy': {
        handle: createWorkloadEnergy({ state, now: () => clock.wallMs() }),
      },
      'workload.intervals': {
        handle: createIntervalList(SHOWN_WORKLOADS, { state, now: () => clock.wallMs() }),
      },
      'workload.scale': { parse: parseWorkloadScale, handle: createWorkloadScale(deps) },
      'workload.suspend': {
        parse: workloads.parseNothing,
        handle: createResourceChange(SHOWN_WORKLOADS, deps, wishWorkload('workload.suspend')),
      },
      'workload.resume': {
        parse: workloads.parseNothing,
        handle: createResourceChange(SHOWN_WORKLOADS, deps, wishWorkload('workload.resume')),
      },
      'workload.rollback': {
        parse: workloads.parseWorkloadRollback,
        handle: createResourceChange(SHOWN_WORKLOADS, deps, createWorkloadRollBack(deps.settings)),
      },
      'registry.list': { handle: createRegistryList({ state }) },
      'registry.login': {
        parse: parseRegistryLogin,
        handle: createRegistryLogin(deps),
      },
      'registry.logout': { handle: createRegistryLogout({ state }) },
    },
    lookups: { wl: resourceLookup(state, 'workload') },
    account: {
      records: {
        workload: recordsOf(state, WORKLOADS_OF),
        registry: recordsOf(state, REGISTRIES_OF),
      },
    },
  }
}
