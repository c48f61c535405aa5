// Requests and replies of workloads: images of accounts that run as containers.
import { z } from 'zod'
import { energyBudget } from '#contract/values/energy-budget.ts'
import { VARIABLE_NAME } from '#contract/functions/function-limits.ts'
import { hostRoutes } from '#contract/resources/host-routes.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import { msOfDuration, type DurationRange } from '#contract/values/durations.ts'
import { bytesOfSize, type SizeRange } from '#contract/values/sizes.ts'
import * as limits from './workload-limits.ts'

const size = (range: SizeRange) =>
  z
    .string()
    .refine(
      (text) => bytesOfSize(text, range) !== undefined,
      `must be from ${range.least} to ${range.most}, such as 256MB`,
    )
const duration = (range: DurationRange) =>
  z
    .string()
    .refine(
      (text) => msOfDuration(text, range) !== undefined,
      `must be from ${range.least} to ${range.most} in ms, s, m or h, such as 10s`,
    )
const text = z
  .string()
  .max(8192)
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be text')
const environment = z
  .record(
    z
      .string()
      .regex(
        VARIABLE_NAME,
        'must be letters, digits and _, and not begin with SVC_, which is reserved',
      ),
    text,
  )
  .refine(
    (variables) => Object.keys(variables).length <= limits.WORKLOAD_VARIABLES_MAX,
    `must have at most ${limits.WORKLOAD_VARIABLES_MAX} variables`,
  )
  .refine(
    (variables) => Object.entries(variables).join('').length <= limits.WORKLOAD_ENVIRONMENT_MAX,
    `must have at most ${limits.WORKLOAD_ENVIRONMENT_MAX} characters`,
  )
const instances = z.int().min(0).max(limits.WORKLOAD_INSTANCES_MAX)
const port = z.int().min(1).max(65_535)

/** The value of `scale`: with `min` 0 it sleeps while no request comes. */
export const workloadScale = ownObject({
  min: instances.optional(),
  max: instances.min(1).optional(),
  /** Requests of an instance at once, beyond which another one starts. */
  target_requests: z
    .int()
    .min(limits.WORKLOAD_TARGET_REQUESTS.least)
    .max(limits.WORKLOAD_TARGET_REQUESTS.most)
    .optional(),
})
  .refine((scale) => Object.keys(scale).length > 0, 'must have min, max or target_requests')
  .refine(({ min = 0, max }) => max === undefined || min <= max, 'must have min no more than max')
export type WorkloadScale = z.infer<typeof workloadScale>

const health = ownObject({
  path: z.string().regex(/^\/[!-~]{0,1000}$/, 'must be a path such as /healthz'),
  interval: duration(limits.HEALTH_INTERVAL).optional(),
  timeout: duration(limits.HEALTH_TIMEOUT).optional(),
})

const volumeName = z
  .string()
  .regex(
    limits.VOLUME_NAME,
    'must begin with a letter and have at most 63 characters of a-z, 0-9 and -',
  )
const volume = ownObject({
  name: volumeName,
  path: z
    .string()
    .regex(
      limits.VOLUME_PATH,
      'must be an absolute path such as /data, and not /etc, /tmp, /run, /proc, /sys or /dev',
    ),
  size: size(limits.WORKLOAD_VOLUME),
})
type Volume = z.infer<typeof volume>
const isWithin = ({ path }: Volume, other: Volume) => `${path}/`.startsWith(`${other.path}/`)

/** Fields that a change may name; the others stay as they were. The fields down to `health` make a version. */
const settings = {
  image: z
    .string()
    .regex(
      limits.IMAGE_NAME,
      'must be a reference to an image, such as registry.example.com/api:1.4.2',
    ),
  /** The port that it listens on, which PORT names too. Null: that of the image, or 8080. */
  port: port.nullable().optional(),
  /** In place of the program and the arguments of the image. Null: those. */
  command: z.array(text).min(1).max(100).nullable().optional(),
  /** The whole environment beside that of the image. */
  env: environment.optional(),
  /** Variables whose values are encrypted and never shown again. */
  secrets: environment.optional(),
  /** Processors of an instance. */
  cpu: z.number().min(limits.WORKLOAD_CPU.least).max(limits.WORKLOAD_CPU.most).optional(),
  memory: size(limits.WORKLOAD_MEMORY).optional(),
  /** The request that tells whether an instance is ready. Null: its port is open for a second. */
  health: health.nullable().optional(),
  /** Folders that outlive instances and versions, all of them. A workload with one has one instance at most. */
  volumes: z
    .array(volume)
    .max(limits.WORKLOAD_VOLUMES_MAX)
    .refine(
      (all) => new Set(all.map(({ name }) => name)).size === all.length,
      'must have names that differ',
    )
    .refine(
      (all) => all.every((one) => all.every((other) => one === other || !isWithin(one, other))),
      'must have paths that are not within each other',
    )
    .optional(),
  /** The volumes that may be deleted, with their data, as `volumes` leaves them out. */
  delete_volumes: z.array(volumeName).max(limits.WORKLOAD_VOLUMES_MAX).optional(),
  scale: workloadScale.optional(),
  scale_to_zero_after: duration(limits.WORKLOAD_SLEEP).optional(),
  /** Host names at which it answers too. */
  routes: hostRoutes.optional(),
}

const namesVolumes = [
  ({ volumes, delete_volumes: some }: { volumes?: unknown; delete_volumes?: unknown }) =>
    some === undefined || volumes !== undefined,
  'delete_volumes needs volumes, which leaves them out',
] as const

export const workloadRequest = ownObject({
  name: z
    .string()
    .regex(
      limits.WORKLOAD_NAME,
      'must begin with a letter and have at most 31 characters of a-z, 0-9 and -',
    ),
  /** The region of this service, or auto. */
  region: z.string().max(63).optional(),
  ...settings,
  /** The most energy that it may use on a day of UTC. */
  energy_budget: energyBudget.optional(),
}).refine(...namesVolumes)
export type WorkloadRequest = z.infer<typeof workloadRequest>

/** Throws invalid_request. */
export const parseWorkloadRequest = (json: unknown): WorkloadRequest =>
  parseWith(workloadRequest, json)

export const workloadChange = ownObject({
  ...settings,
  image: settings.image.optional(),
  /** Null removes it. */
  energy_budget: energyBudget.nullable().optional(),
})
  .refine((change) => Object.keys(change).length > 0, 'must name something to change')
  .refine(...namesVolumes)
export type WorkloadChange = z.infer<typeof workloadChange>

/** Throws invalid_request. */
export const parseWorkloadChange = (json: unknown): WorkloadChange =>
  parseWith(workloadChange, json)

/** Throws invalid_request. */
export const parseWorkloadScale = (json: unknown): WorkloadScale => parseWith(workloadScale, json)

/** Of a request that has nothing to choose. */
export const nothingToChoose = ownObject({})
/** Throws invalid_request. */
export const parseNothing = (json: unknown): object => parseWith(nothingToChoose, json)

export const workloadRollback = ownObject({
  /** The version before the live one is the default. */
  version: z.int().min(1).max(2_147_483_647).optional(),
})
export type WorkloadRollback = z.infer<typeof workloadRollback>

/** Throws invalid_request. */
export const parseWorkloadRollback = (json: unknown): WorkloadRollback =>
  parseWith(workloadRollback, json)
