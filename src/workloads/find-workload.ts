// Workloads of an account as the API shows them.
import { urlOfHost } from '#contract/functions/functions-address.ts'
import { durationText } from '#contract/values/durations.ts'
import type { WorkloadReply } from '#contract/workloads/workload-replies.ts'
import { versionsColumn } from '#resources/versions.ts'
import {
  failedVersion,
  sharedFields,
  shownResources,
  type ShownResource,
} from '#resources/shown-resources.ts'
import type { WorkloadHealth } from './driver.ts'
import type { VolumeRow } from './read-version.ts'
import type { WorkloadGatewaySettings } from './settings.ts'

export type WorkloadRow = ShownResource & {
  readonly host: string
  readonly hosts: string[]
  readonly image: string
  readonly digest: string | null
  readonly port: number | null
  readonly command: string[] | null
  readonly env_names: string[]
  readonly secret_names: string[]
  readonly cpu_milli: number
  readonly memory_bytes: string
  readonly health: WorkloadHealth | null
  readonly volumes: readonly VolumeRow[]
  readonly scale_min: number
  readonly scale_max: number
  readonly target_requests: number
  readonly sleep_after_ms: number
  readonly instances: string
  readonly actual: WorkloadReply['status']
  readonly pull: WorkloadReply['pull']
  readonly version: number
  readonly live_version: number | null
  readonly versions: WorkloadReply['versions']
}

/** As their live versions are, or as is wanted before there is one. */
export const SHOWN_WORKLOADS = shownResources<WorkloadRow, WorkloadGatewaySettings, WorkloadReply>({
  kind: 'workload',
  notFound: 'workload_not_found',
  columns: `w.host, n.hosts, v.image, v.digest,
    coalesce(v.port, (v.config -> 'ports' ->> 0)::int) as port, v.command, v.env_names, v.secret_names, v.cpu_milli,
    v.memory_bytes::text, v.health, volumes_of(v) as volumes, w.scale_min, w.scale_max, w.target_requests, w.sleep_after_ms,
    workload_instances(n.id)::text as instances, n.version, n.live_version,
    (select p.pull from resource_versions where resource = n.id and version = n.version and failure is null), ${versionsColumn(
      {
        table: 'workload_versions',
        key: 'workload',
        fields: "'image', v.image, 'digest', v.digest, 'image_bytes', v.image_bytes",
      },
    )}`,
  joins: `join workloads w using (id)
    join workload_versions p on p.workload = w.id and p.version = n.version
    join workload_versions v on v.workload = w.id and v.version = coalesce(n.live_version, n.version)`,
  replyOf: (row, { address }) => ({
    ...sharedFields(row),
    ...failedVersion(row, 'is not ready'),
    object: 'workload',
    url: address === undefined ? `http://${row.host}` : urlOfHost(address, row.host),
    routes: row.hosts,
    image: row.image,
    digest: row.digest,
    port: row.port,
    command: row.command,
    env: row.env_names,
    secrets: row.secret_names,
    cpu: row.cpu_milli / MILLI,
    memory_bytes: Number(row.memory_bytes),
    health: row.health && {
      path: row.health.path,
      interval: durationText(row.health.intervalMs),
      timeout: durationText(row.health.timeoutMs),
    },
    volumes: row.volumes.map(({ name, path, size_bytes, used_bytes }) => ({
      name,
      path,
      size_bytes,
      used_bytes,
    })),
    scale: { min: row.scale_min, max: row.scale_max, target_requests: row.target_requests },
    scale_to_zero_after: durationText(row.sleep_after_ms),
    instances: Number(row.instances),
    status: row.actual,
    pull: row.pull,
    version: row.version,
    live_version: row.live_version,
    versions: row.versions,
  }),
})

const MILLI = 1000
