// Versions of workloads as drivers run them.
import { fault } from '#contract/errors.ts'
import { WORKLOAD_PORT_DEFAULT } from '#contract/workloads/workload-limits.ts'
import type { ImageConfig } from '#images/manifest.ts'
import { openVariables } from '#resources/variables.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadSpec, WorkloadVolume } from './driver.ts'

export type WorkloadVersion = Omit<
  WorkloadSpec,
  'instance' | 'digest' | 'config' | 'port' | 'env' | 'memoryBytes' | 'volumes'
> & {
  readonly digest: string | null
  readonly config: ImageConfig | null
  /** Null where its image is not kept on the node. */
  readonly imageWord: string | null
  readonly port: number | null
  readonly memoryBytes: string
  readonly sealedEnv: string
  readonly sealedSecrets: string
  readonly failure: string | null
  readonly isLive: boolean
  readonly isWanted: boolean
  /** All of the workload; those without a path are not of the version. */
  readonly volumes: readonly VolumeRow[]
  readonly scaleMin: number
  readonly scaleMax: number
  readonly sleepAfterMs: number
}

/** As volumes_of() has it. */
export type VolumeRow = {
  readonly id: string
  readonly name: string
  readonly path: string | null
  readonly size_bytes: number
  readonly used_bytes: number
}

/** The volumes that an instance of the version mounts. */
export const mountedVolumes = (volumes: readonly VolumeRow[]): readonly WorkloadVolume[] =>
  volumes.flatMap(({ id, name, path, size_bytes: bytes }) =>
    path === null ? [] : [{ id, name, path, bytes }],
  )

/** Throws workload_not_found where there is none. */
export async function readWorkloadVersion(
  state: Queryable,
  id: string,
  which: 'live' | 'wanted' | number,
): Promise<WorkloadVersion> {
  const { rows } = await state.query<WorkloadVersion>(
    `select w.id, w.account, n.name, v.version, v.image, v.digest, v.config, v.image_word as "imageWord", v.port, v.command,
       v.cpu_milli as "cpuMilli", v.memory_bytes::text as "memoryBytes", v.health, v.sealed_env as "sealedEnv",
       v.sealed_secrets as "sealedSecrets", o.failure, coalesce(v.version = n.live_version, false) as "isLive",
       v.version = n.version as "isWanted", volumes_of(v) as volumes,
       w.scale_min as "scaleMin", w.scale_max as "scaleMax",
       w.sleep_after_ms as "sleepAfterMs"
     from workloads w join resources n using (id)
       join resource_versions o on o.resource = n.id
         and o.version = case $2 when 'live' then n.live_version when 'wanted' then n.version else $2::int end
       join workload_versions v on v.workload = n.id and v.version = o.version
     where w.id = $1`,
    [id, String(which)],
  )
  const [row] = rows
  if (row === undefined) throw fault('workload_not_found', `Could not find a version: ${id}`)
  return row
}

/** An instance of a version whose image is pulled. */
export function workloadSpecOf(
  version: WorkloadVersion,
  given: Pick<WorkloadSpec, 'instance' | 'digest' | 'config'>,
  environmentKey: string,
): WorkloadSpec {
  const { sealedEnv, sealedSecrets, memoryBytes, port, ...rest } = version
  const { id, account, name, version: number, image, command, cpuMilli, health } = rest
  const owner = { kind: 'workload', account, environmentKey }
  return {
    id,
    account,
    name,
    version: number,
    image,
    command,
    cpuMilli,
    health,
    ...given,
    port: port ?? given.config.ports[0] ?? WORKLOAD_PORT_DEFAULT,
    env: { ...openVariables(sealedEnv, owner), ...openVariables(sealedSecrets, owner) },
    memoryBytes: Number(memoryBytes),
    volumes: mountedVolumes(version.volumes),
  }
}
