// The audit log of an account.
import { z } from 'zod'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'

/** Parameters of GET /v1/audit. */
export const auditQuery = z.object({
  /** An operation, such as token.create. */
  action: z.string().optional(),
  /** The id of what was changed. */
  target: z.string().optional(),
  ...pageQuery,
})

export const auditEntry = z.object({
  id: z.string(),
  object: z.literal('audit.entry'),
  at: z.iso.datetime(),
  action: z.string(),
  /**
   * The operator and the service itself (`system`) have neither an id nor a name. The service acts because of a rule or a
   * deletion that a member has set: it tops up automatically, and gives money back.
   */
  actor: z.object({
    type: z.enum(['token', 'operator', 'system']),
    id: z.string().nullable(),
    name: z.string().nullable(),
    /** The member whose token it is; null for the operator and the service. */
    member: z.object({ id: z.string(), name: z.string() }).nullable(),
  }),
  target: z.string(),
  /** By which the receipt of the change is found. */
  request_id: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
})
export type AuditEntry = z.infer<typeof auditEntry>

/** GET /v1/audit: the newest first. */
export const auditList = listPageOf(auditEntry)
