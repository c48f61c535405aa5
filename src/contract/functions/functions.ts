// Requests and replies of functions.
import { z } from 'zod'
import { parseCron } from '#contract/values/cron.ts'
import { energyBudget } from '#contract/values/energy-budget.ts'
import * as limits from './function-limits.ts'
import { OBJECTS_OF_BUCKET, objectsOf, RUN_FOR_OBJECT } from '#contract/storage/object-created.ts'
import { hourlyEnergyOf } from '#contract/resources/hourly-energy.ts'
import { hostRoutes } from '#contract/resources/host-routes.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import { bytesOfSize } from '#contract/values/sizes.ts'

const environment = z
  .record(
    z
      .string()
      .regex(
        limits.VARIABLE_NAME,
        'must be letters, digits and _, and not begin with SVC_, which is reserved',
      ),
    z.string().refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be text'),
  )
  .refine(
    (variables) => Object.keys(variables).length <= limits.FUNCTION_VARIABLES_MAX,
    `must have at most ${limits.FUNCTION_VARIABLES_MAX} variables`,
  )
  .refine(
    (variables) => Object.entries(variables).join('').length <= limits.FUNCTION_ENVIRONMENT_MAX,
    `must have at most ${limits.FUNCTION_ENVIRONMENT_MAX} characters`,
  )

/** Fields that a further deployment leaves out stay as they were. */
export const functionRequest = ownObject({
  name: z
    .string()
    .regex(
      /^[a-z][a-z0-9-]{0,62}$/,
      'must begin with a letter and have at most 63 characters of a-z, 0-9 and -',
    ),
  /** The path below the account's address of functions; by default the name. Paths below it are the function's too. */
  route: z
    .string()
    .regex(
      limits.FUNCTION_ROUTE,
      'must be a path of letters, digits, ".", "_" and "-", such as /hello',
    )
    .optional(),
  /** Host names at which it answers too, at all paths. */
  routes: hostRoutes.optional(),
  /** Default: the runtime of the version before, else the newest runtime for such files. */
  runtime: z.string().max(50).optional(),
  memory: z
    .string()
    .refine(
      (text) => bytesOfSize(text, limits.FUNCTION_MEMORIES) !== undefined,
      'must be from 64MB to 1GiB, such as 128MB',
    )
    .optional(),
  /** The longest time of a request. */
  timeout_s: z.int().min(1).max(limits.FUNCTION_TIMEOUT_S_MAX).optional(),
  /** The whole environment; its values are never shown again. */
  env: environment.optional(),
  /** The name of the file, by which the runtime knows its language. */
  file: z
    .string()
    .regex(
      /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/,
      'must be the name of a file of letters, digits, ".", "_" and "-"',
    ),
  /** The code: one module, with its imports bundled into it. */
  source: z
    .string()
    .min(1)
    .max(limits.FUNCTION_SOURCE_MAX)
    .refine((text) => text.isWellFormed(), 'must be text'),
  /** The most energy that it may use on a day of UTC. */
  energy_budget: energyBudget.optional(),
  /** Runs it for each new object of a bucket of the account: `bucket/<bucket>/object-created`. */
  on: z
    .array(z.string().regex(OBJECTS_OF_BUCKET, `must be a trigger such as ${objectsOf('photos')}`))
    .max(limits.FUNCTION_BUCKETS_MAX)
    .optional(),
  /** Runs it at times of UTC, in five fields of cron; null removes the schedule. */
  schedule: z
    .string()
    .max(100)
    .refine(
      (text) => parseCron(text) !== undefined,
      'must be five fields of cron: minute, hour, day, month, day of the week, such as "*/5 * * * *"',
    )
    .nullable()
    .optional(),
  /** Requests that run at once. Null, the default: 20, and 1 for a handler of Lambda. */
  concurrency: z.int().min(1).max(limits.FUNCTION_CONCURRENCY_MAX).nullable().optional(),
})
export type FunctionRequest = z.infer<typeof functionRequest>

/** Throws invalid_request. */
export const parseFunctionRequest = (json: unknown): FunctionRequest =>
  parseWith(functionRequest, json)

export const functionChange = ownObject({
  /** True: it stops and answers 503; false: it answers again. */
  suspended: z.boolean().optional(),
  /** Null removes it. */
  energy_budget: energyBudget.nullable().optional(),
  /** The host names at which it answers beside its path: all of them. */
  routes: hostRoutes.optional(),
}).refine(
  (change) => Object.keys(change).length > 0,
  'must have suspended, energy_budget or routes',
)
export type FunctionChange = z.infer<typeof functionChange>

/** Throws invalid_request. */
export const parseFunctionChange = (json: unknown): FunctionChange =>
  parseWith(functionChange, json)

export const rollbackRequest = ownObject({
  /** The version before the live one is the default. */
  version: z.int().min(1).max(2_147_483_647).optional(),
})
export type RollbackRequest = z.infer<typeof rollbackRequest>

/** Throws invalid_request. */
export const parseRollbackRequest = (json: unknown): RollbackRequest =>
  parseWith(rollbackRequest, json)

export const functionVersion = z.object({
  version: z.int(),
  file: z.string(),
  runtime: z.string(),
  memory_bytes: z.int(),
  created_at: z.iso.datetime(),
  /** Why it could not be started; null where nothing of that is known. */
  failure: z.string().nullable(),
})

export const functionReply = z.object({
  id: z.string(),
  object: z.literal('function'),
  name: z.string(),
  region: z.string(),
  /** The address. This and the following fields are those of the live version; before the first, of the wanted version. */
  url: z.string(),
  route: z.string(),
  /** Its host names, of all versions: it answers there at all paths. */
  routes: z.array(z.string()),
  runtime: z.string(),
  memory_bytes: z.int(),
  timeout_s: z.int(),
  /** The names of its variables. */
  env: z.array(z.string()),
  energy_budget: z.string().nullable(),
  /** The part of it that is charged today, at most a minute old; null without a budget. */
  energy_budget_used_j: z.number().min(0).nullable(),
  on: z.array(z.string()),
  schedule: z.string().nullable(),
  concurrency: z.int(),
  /** Runs for objects and times that have not been yet, and those that failed as often as a run is tried. */
  runs_waiting: z.int(),
  runs_failed: z.int(),
  status: z.enum(['pending', 'deploying', 'deployed', 'suspended', 'failed', 'deleted']),
  /** Why the status is not what was asked for, or why the newest version is not live. */
  reason: z.string().nullable(),
  /** The version that is wanted, and the one that answers; null before the first answers. */
  version: z.int(),
  live_version: z.int().nullable(),
  /** Those that are kept, the newest first. */
  versions: z.array(functionVersion),
  created_at: z.iso.datetime(),
})
export type FunctionReply = z.infer<typeof functionReply>

/** All of them: an account has few. */
export const functionList = z.object({
  object: z.literal('list'),
  data: z.array(functionReply),
  has_more: z.literal(false),
  next_cursor: z.null(),
})

export const functionDeleted = z.object({
  id: z.string(),
  object: z.literal('function'),
  deleted: z.literal(true),
})

export const functionLogsQuery = z.object({
  /** The cursor of an earlier answer: only newer lines. */
  after: z
    .string()
    .regex(/^\d{1,18}$/, 'must be a cursor of an earlier answer')
    .optional(),
  limit: z.coerce.number().int().min(1).max(limits.FUNCTION_LOG_LINES_MAX).optional(),
})

/** Throws invalid_request. */
export const parseFunctionLogsQuery = (query: URLSearchParams) =>
  parseWith(functionLogsQuery, Object.fromEntries(query))

/** The newest lines, the oldest of them first. */
export const functionLogs = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      at: z.iso.datetime(),
      /** The request that it was written for; null outside of requests. */
      request_id: z.string().nullable(),
      level: z.enum(['debug', 'info', 'warn', 'error']),
      text: z.string(),
    }),
  ),
  /** For `after` of the next call. */
  cursor: z.string(),
})

export const functionEnergy = hourlyEnergyOf('function.energy')

const failed = z.object({
  id: z.string(),
  event: z.enum([RUN_FOR_OBJECT, 'schedule']),
  /** {bucket, key, version_id}, or {scheduled_at}. */
  data: z.record(z.string(), z.string()),
  attempts: z.int(),
  /** Why the last attempt failed, and its request in the log. */
  error: z.string().nullable(),
  request_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  attempted_at: z.iso.datetime().nullable(),
})

/** The newest first. */
export const functionFailures = z.object({
  object: z.literal('list'),
  /** Runs that failed for good. */
  data: z.array(failed),
  /** The last attempt of these failed, and they are tried again. */
  waiting: z.array(failed.extend({ next_at: z.iso.datetime() })),
})

const failedRun = z.string().regex(/^\d{1,18}$/, 'must be the id of a failed run')

export const replayRequest = ownObject({
  /** One of them; all without it. */
  id: failedRun.optional(),
})
export type FunctionReplayRequest = z.infer<typeof replayRequest>

/** Throws invalid_request. */
export const parseFunctionReplayRequest = (json: unknown): FunctionReplayRequest =>
  parseWith(replayRequest, json)

export const functionReplayed = z.object({
  object: z.literal('function.replay'),
  /** Runs that are due again. */
  runs: z.int(),
})

/** One of them, or all: the request says which, as nothing brings them back. */
export const discardRequest = ownObject({
  id: failedRun.optional(),
  all: z.literal(true).optional(),
}).refine(({ id, all }) => (id === undefined) !== (all === undefined), 'must have id or all')
export type FunctionDiscardRequest = z.infer<typeof discardRequest>

/** Throws invalid_request. */
export const parseFunctionDiscardRequest = (json: unknown): FunctionDiscardRequest =>
  parseWith(discardRequest, json)

export const functionDiscarded = z.object({
  object: z.literal('function.discard'),
  /** Runs that are forgotten. */
  runs: z.int(),
})
