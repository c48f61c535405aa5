// Requests and replies of deployments.
import { z } from 'zod'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import { plainText } from '#contract/values/plain-text.ts'
import * as limits from './deployment-limits.ts'

const text = z.string().refine((one) => one.isWellFormed(), 'must be text')

export const deploymentRequest = ownObject({
  /** Descriptions of one stack follow each other: what a new one leaves out is removed. */
  stack: z
    .string()
    .regex(
      limits.STACK_NAME,
      'must begin with a letter or a digit and have at most 63 characters of a-z, 0-9 and -',
    ),
  /** The text of the description file. An empty one removes all that the stack has. */
  description: text.max(limits.DESCRIPTION_CHARACTERS_MAX),
  /** The name of the file, for messages. */
  file: plainText(limits.FILE_NAME_MAX).default('ergon.hcl'),
  /** Values by the names of variables; lists and maps as the file would have them. */
  variables: z
    .record(z.string().max(128), text)
    .refine(
      (given) => Object.keys(given).length <= limits.DEPLOYMENT_VARIABLES_MAX,
      `must have at most ${limits.DEPLOYMENT_VARIABLES_MAX} variables`,
    )
    .default({}),
  /** The code of functions by the path that the description has: one module each, with its imports bundled into it. */
  files: z
    .record(z.string().max(500), ownObject({ file: z.string().max(100), source: text }))
    .refine(
      (given) => Object.keys(given).length <= limits.DEPLOYMENT_FILES_MAX,
      `must have at most ${limits.DEPLOYMENT_FILES_MAX} files`,
    )
    .default({}),
  /** True: answers with the plan, and changes nothing. */
  dry_run: z.boolean().default(false),
  /** The `plan` of a dry run: another plan is refused. */
  plan: z.string().max(100).optional(),
  /** Databases, and buckets with objects, are removed too where the description leaves them out. */
  allow_delete: z.boolean().default(false),
})
export type DeploymentRequest = z.infer<typeof deploymentRequest>

/** Throws invalid_request. */
export const parseDeploymentRequest = (json: unknown): DeploymentRequest =>
  parseWith(deploymentRequest, json)

const change = z.object({
  attribute: z.string(),
  /** Null for an attribute that is hidden or had no value. */
  before: z.string().nullable(),
  /** Null for an attribute that is hidden, gets no value, or gets a value of a resource that is not made yet. */
  after: z.string().nullable(),
  hidden: z.boolean(),
  pending: z.boolean(),
})

const planStep = {
  /** kind.name */
  address: z.string(),
  kind: z.string(),
  name: z.string(),
  /** adopt: an existing resource becomes one of the stack. keep: the resource holds data, and is not deleted. */
  action: z.enum(['none', 'adopt', 'create', 'update', 'delete', 'keep']),
  /** The place of its block in the file; null where the file leaves it out. */
  line: z.int().nullable(),
  column: z.int().nullable(),
  changes: z.array(change),
  /** Values for other resources, such as its url, where it exists already; no secrets. */
  outputs: z.record(z.string(), z.string()),
  /** Facts in words, such as attributes that were changed by other means than the stack. */
  notes: z.array(z.string()),
}

export const deploymentPlan = z.object({
  object: z.literal('deployment.plan'),
  stack: z.string(),
  /** The field `plan` of a request that applies this plan. */
  plan: z.string(),
  /** Steps that change something. */
  changes: z.int().min(0),
  steps: z.array(z.object(planStep)),
})
export type DeploymentPlan = z.infer<typeof deploymentPlan>

export const deploymentStep = z.object({
  ...planStep,
  /** running: the change has begun, and is not there yet. skipped: another step failed, or the deployment was cancelled. */
  status: z.enum(['waiting', 'running', 'done', 'failed', 'skipped']),
  /** The id of the resource. */
  resource: z.string().nullable(),
  /** The code of a refusal; or resource_failed, resource_late, resource_gone, resource_holds_data, deployment_cancelled. */
  fault: z.object({ code: z.string(), message: z.string() }).nullable(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
})

export const deploymentReply = z.object({
  id: z.string(),
  object: z.literal('deployment'),
  stack: z.string(),
  /** The name of the description file. */
  file: z.string(),
  plan: z.string(),
  status: z.enum(['running', 'done', 'failed', 'cancelled']),
  changes: z.int().min(0),
  steps: z.array(deploymentStep),
  /** The outputs of the description, once it is done. A sensitive one has no value. */
  outputs: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      value: z.unknown(),
      sensitive: z.boolean(),
    }),
  ),
  created_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
})
export type DeploymentReply = z.infer<typeof deploymentReply>

export const deploymentListQuery = z.object({ ...pageQuery, stack: z.string().optional() })

/** The newest first, without their steps. */
export const deploymentList = listPageOf(deploymentReply.omit({ steps: true, outputs: true }))
