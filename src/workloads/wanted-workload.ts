// The fields of a request, as deploy_workload() and change_workload() take them.
import { msOfDuration, type DurationRange } from '#contract/values/durations.ts'
import { fault } from '#contract/errors.ts'
import { bytesOfSize } from '#contract/values/sizes.ts'
import * as limits from '#contract/workloads/workload-limits.ts'
import type { WorkloadChange, WorkloadScale } from '#contract/workloads/workloads.ts'
import { sealVariables } from '#resources/variables.ts'
import { allowedImage } from './image-rule.ts'
import type { WorkloadGatewaySettings } from './settings.ts'

const MILLI = 1000
const ms = (text: string | undefined, range: DurationRange & { readonly byDefault: string }) =>
  msOfDuration(text ?? range.byDefault, range)
const cpu = (cores: number) => Math.round(cores * MILLI)

/** The fields that a change names. Throws image_refused and volumes_off. */
export function wantedWorkload(
  change: WorkloadChange,
  account: string,
  settings: WorkloadGatewaySettings,
): object {
  const { image, port, command, env, secrets, health, scale, memory, volumes } = change
  if (volumes?.length && settings.whyNoVolumes !== undefined)
    throw fault('volumes_off', `Could not have volumes: ${settings.whyNoVolumes}`)
  if (image !== undefined) allowedImage(image, settings.images)
  const seal = sealOf(account, settings)
  return {
    ...(image !== undefined && { image }),
    ...(port !== undefined && { port }),
    ...(command !== undefined && { command }),
    ...(env && { env_names: namesOf(env), sealed_env: seal(env) }),
    ...(secrets && { secret_names: namesOf(secrets), sealed_secrets: seal(secrets) }),
    ...(change.cpu !== undefined && { cpu_milli: cpu(change.cpu) }),
    ...(memory !== undefined && { memory_bytes: bytesOfSize(memory, limits.WORKLOAD_MEMORY) }),
    ...(health !== undefined && {
      health: health && {
        path: health.path,
        intervalMs: ms(health.interval, limits.HEALTH_INTERVAL),
        timeoutMs: ms(health.timeout, limits.HEALTH_TIMEOUT),
      },
    }),
    ...(volumes && {
      volumes: volumes.map(({ name, path, size }) => ({
        name,
        path,
        size_bytes: bytesOfSize(size, limits.WORKLOAD_VOLUME),
      })),
      deletable_volumes: change.delete_volumes ?? [],
    }),
    ...(scale?.min !== undefined && { scale_min: scale.min }),
    ...(scale?.max !== undefined && { scale_max: scale.max }),
    ...(scale?.target_requests !== undefined && { target_requests: scale.target_requests }),
    ...(change.scale_to_zero_after !== undefined && {
      sleep_after_ms: ms(change.scale_to_zero_after, limits.WORKLOAD_SLEEP),
    }),
  }
}

/** The fields of a new workload that its request leaves out. */
export function defaultsOf(
  account: string,
  settings: WorkloadGatewaySettings,
  { min = 0 }: WorkloadScale = {},
): object {
  const seal = sealOf(account, settings)
  const { WORKLOAD_MEMORY, WORKLOAD_CPU, WORKLOAD_SLEEP } = limits
  return {
    port: null,
    command: null,
    health: null,
    volumes: [],
    scale_min: 0,
    scale_max: Math.max(min, limits.WORKLOAD_INSTANCES_DEFAULT),
    target_requests: limits.WORKLOAD_TARGET_REQUESTS.byDefault,
    env_names: [],
    sealed_env: seal({}),
    secret_names: [],
    sealed_secrets: seal({}),
    cpu_milli: cpu(WORKLOAD_CPU.byDefault),
    memory_bytes: bytesOfSize(WORKLOAD_MEMORY.byDefault, WORKLOAD_MEMORY),
    sleep_after_ms: ms(undefined, WORKLOAD_SLEEP),
  }
}

const sealOf =
  (account: string, { environmentKey }: Pick<WorkloadGatewaySettings, 'environmentKey'>) =>
  (variables: Readonly<Record<string, string>>): string =>
    sealVariables(variables, { kind: 'workload', account, environmentKey })

const namesOf = (variables: object): string[] => Object.keys(variables).toSorted()
