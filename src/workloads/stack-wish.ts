// A workload as a description has it: its attributes with their defaults, and the request that asks for them.
import { durationText } from '#contract/values/durations.ts'
import { printEnergyPerDay } from '#contract/values/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import { sizeText } from '#contract/values/sizes.ts'
import * as limits from '#contract/workloads/workload-limits.ts'
import { parseWorkloadRequest, type WorkloadRequest } from '#contract/workloads/workloads.ts'
import {
  assertRegion,
  secretsOf,
  variableAttributes,
  wantedBudget,
} from '#resources/stack-attributes.ts'
import {
  attributeOf,
  settled,
  type StackAttributes,
  type StackWish,
} from '#resources/stack-part.ts'
import { allowedImage } from './image-rule.ts'
import type { WorkloadGatewaySettings } from './settings.ts'

type Wish = StackWish<'workload'>

/** Throws workloads_off, volumes_off, image_refused, and invalid_request. */
export function assertWorkloadServed(
  { name, spec }: Wish,
  settings: WorkloadGatewaySettings,
): void {
  if (settings.address === undefined) throw fault('workloads_off', `Could not deploy "${name}"`)
  assertRegion(spec.region, settings.region)
  if (typeof spec.image === 'string') allowedImage(spec.image, settings.images)
  const { volume = [] } = spec
  if (volume.length > 0 && settings.whyNoVolumes !== undefined)
    throw fault('volumes_off', `Could not deploy "${name}": ${settings.whyNoVolumes}`)
}

/** A description has no less at most than it has at least. */
function scaleOf({ scale }: Wish['spec']) {
  const { byDefault } = limits.WORKLOAD_TARGET_REQUESTS
  const { min = 0, max, target_requests = byDefault } = scale ?? {}
  const least = Math.max(typeof min === 'number' ? min : 0, limits.WORKLOAD_INSTANCES_DEFAULT)
  return { min, max: max ?? least, target_requests }
}

const MILLI = 1000
export const commandText = (value: unknown): string => JSON.stringify(value)

/** Port, command and health have no default, and are attributes only where the description has them. */
export function workloadAttributes({ spec }: Wish): StackAttributes {
  const { port, command, cpu, memory, scale_to_zero_after: sleep, health } = spec
  const scale = scaleOf(spec)
  return {
    image: attributeOf(spec.image, String),
    ...(port !== undefined && { port: attributeOf(port, String) }),
    ...(command !== undefined && { command: attributeOf(command, commandText) }),
    cpu: attributeOf(cpu ?? limits.WORKLOAD_CPU.byDefault * MILLI, cpuText),
    memory: memory === undefined ? limits.WORKLOAD_MEMORY.byDefault : attributeOf(memory, sizeText),
    ...(health && {
      'health.path': attributeOf(health.path, String),
      'health.interval': attributeOf(health.interval ?? limits.HEALTH_INTERVAL.byDefault, timeText),
      'health.timeout': attributeOf(health.timeout ?? limits.HEALTH_TIMEOUT.byDefault, timeText),
    }),
    ...Object.assign({}, ...(spec.volume ?? []).map(volumeAttributes)),
    'scale.min': attributeOf(scale.min, String),
    'scale.max': attributeOf(scale.max, String),
    'scale.target_requests': attributeOf(scale.target_requests, String),
    scale_to_zero_after: attributeOf(sleep ?? limits.WORKLOAD_SLEEP.byDefault, timeText),
    ...wantedBudget(spec.energy_budget),
    ...variableAttributes('env', spec.env ?? {}),
    ...variableAttributes('secret', secretsOf(spec.secret)),
  }
}

type WishedVolume = NonNullable<Wish['spec']['volume']>[number]

const volumeAttributes = ({ name, path, size }: WishedVolume): StackAttributes => ({
  [volumePath(name)]: attributeOf(path, String),
  [volumeSize(name)]: attributeOf(size, sizeText),
})
export const volumePath = (name: string): string => `volume.${name}.path`
/** The name of the volume in such an attribute. */
export const volumeOf = (attribute: string): string => attribute.split('.')[1] ?? ''
export const volumeSize = (name: string): string => `volume.${name}.size`

export const cpuText = (milli: number): string => String(milli / MILLI)
/** The text of a time: of milliseconds, or of a default. */
const timeText = (time: number | string): string =>
  typeof time === 'number' ? durationText(time) : time

/**
 * With all that the operation has by default; volumes that are there and left out are deleted. Throws invalid_request: what
 * the operation would not take.
 */
export function stackedWorkload(
  { name, spec }: Wish,
  volumesThere: readonly string[],
): WorkloadRequest {
  const volumes = spec.volume ?? []

  const { port = null, command = null, health, energy_budget: budget } = spec
  const { WORKLOAD_CPU, WORKLOAD_MEMORY, WORKLOAD_SLEEP } = limits
  return parseWorkloadRequest({
    name,
    image: spec.image,
    port,
    command,
    env: spec.env ?? {},
    secrets: secretsOf(spec.secret),
    cpu: settled(spec.cpu ?? WORKLOAD_CPU.byDefault * MILLI) / MILLI,
    memory: spec.memory === undefined ? WORKLOAD_MEMORY.byDefault : sizeText(settled(spec.memory)),
    health: health
      ? {
          path: health.path,
          interval: timeText(settled(health.interval ?? limits.HEALTH_INTERVAL.byDefault)),
          timeout: timeText(settled(health.timeout ?? limits.HEALTH_TIMEOUT.byDefault)),
        }
      : null,
    volumes: volumes.map(({ size, ...one }) => ({ ...one, size: sizeText(settled(size)) })),
    delete_volumes: volumesThere.filter((there) => volumes.every((one) => one.name !== there)),
    scale: scaleOf(spec),
    scale_to_zero_after: timeText(settled(spec.scale_to_zero_after ?? WORKLOAD_SLEEP.byDefault)),
    ...(budget !== undefined && { energy_budget: printEnergyPerDay(settled(budget)) }),
  })
}
