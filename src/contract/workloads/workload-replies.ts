// Replies of workloads.
import { z } from 'zod'
import { parseWith } from '#contract/values/parse.ts'
import { hourlyEnergyOf } from '#contract/resources/hourly-energy.ts'
import { WORKLOAD_LOG_LINES_MAX } from './workload-limits.ts'

const time = z.iso.datetime()

export const workloadVersion = z.object({
  version: z.int(),
  image: z.string(),
  /** Of its manifest; null until it is pulled. */
  digest: z.string().nullable(),
  /** The bytes that its image takes of the node's disk; null where the node has not pulled it, or has removed it. */
  image_bytes: z.int().nullable(),
  created_at: time,
  /** Why it did not become ready; null where nothing of that is known. */
  failure: z.string().nullable(),
})

export const workloadReply = z.object({
  id: z.string(),
  object: z.literal('workload'),
  name: z.string(),
  region: z.string(),
  /** Where it answers; its other host names are `routes`. */
  url: z.string(),
  routes: z.array(z.string()),
  /** This and what follows is as the live version has it, or the wanted one before any is live. */
  image: z.string(),
  digest: z.string().nullable(),
  /** Null until the image is pulled, where it is that of the image. */
  port: z.int().nullable(),
  command: z.array(z.string()).nullable(),
  /** The names of its variables and of its secrets. */
  env: z.array(z.string()),
  secrets: z.array(z.string()),
  cpu: z.number(),
  memory_bytes: z.int(),
  health: z.object({ path: z.string(), interval: z.string(), timeout: z.string() }).nullable(),
  volumes: z.array(
    z.object({
      name: z.string(),
      /** Null while no instance mounts it. */
      path: z.string().nullable(),
      size_bytes: z.int(),
      /** Its room on the disk, which is charged; some seconds old. */
      used_bytes: z.int(),
    }),
  ),
  scale: z.object({ min: z.int(), max: z.int(), target_requests: z.int() }),
  scale_to_zero_after: z.string(),
  /** The number of instances that run now. */
  instances: z.int(),
  energy_budget: z.string().nullable(),
  /** The part of it that is charged today, at most a minute old; null without a budget. */
  energy_budget_used_j: z.number().min(0).nullable(),
  status: z.enum([
    'pending',
    'deploying',
    'deployed',
    'crash_loop',
    'suspended',
    'failed',
    'deleted',
  ]),
  /** Why the status is not what was asked for, or why the newest version is not live. */
  reason: z.string().nullable(),
  /** Of the image that is being pulled. */
  pull: z.object({ done_bytes: z.int(), total_bytes: z.int() }).nullable(),
  /** The version that is wanted, and the one that answers; null before the first answers. */
  version: z.int(),
  live_version: z.int().nullable(),
  /** The kept versions, the newest first. */
  versions: z.array(workloadVersion),
  created_at: time,
})
export type WorkloadReply = z.infer<typeof workloadReply>

/** All of them: an account has few. */
export const workloadList = z.object({
  object: z.literal('list'),
  data: z.array(workloadReply),
  has_more: z.literal(false),
  next_cursor: z.null(),
})

export const workloadDeleted = z.object({
  id: z.string(),
  object: z.literal('workload'),
  deleted: z.literal(true),
})

export const workloadLogsQuery = z.object({
  /** The number of newest lines; 200 by default. */
  lines: z.coerce.number().int().min(1).max(WORKLOAD_LOG_LINES_MAX).optional(),
  /** The cursor of an earlier answer: only newer lines. */
  after: z
    .string()
    .regex(/^\d{1,18}$/, 'must be a cursor of an earlier answer')
    .optional(),
})

/** Throws invalid_request. */
export const parseWorkloadLogsQuery = (query: URLSearchParams) =>
  parseWith(workloadLogsQuery, Object.fromEntries(query))

/** The newest lines, the oldest of them first. */
export const workloadLogs = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      at: time,
      /** The version that wrote it, and where: `service` has lines of the service about it. */
      version: z.int(),
      /** The number of the instance that wrote it. */
      instance: z.int(),
      stream: z.enum(['stdout', 'stderr', 'service']),
      text: z.string(),
    }),
  ),
  /** For `after` of the next call. */
  cursor: z.string(),
})

export const workloadEnergy = hourlyEnergyOf('workload.energy')
