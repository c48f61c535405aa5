// The energy budgets of an account, whatever they limit.
import { z } from 'zod'
import { listPageOf, pageQuery } from '#contract/values/list-page.ts'

export const budgetListQuery = z.object(pageQuery)

const wholeText = z.string().regex(/^(0|[1-9]\d*)$/)

export const budgetEntry = z.object({
  /** The id of the resource, or of the first token that had the budget. */
  id: z.string(),
  object: z.literal('budget'),
  /** The kind of the limited thing: `token`, or that of a resource, such as `database`. */
  kind: z.string(),
  name: z.string(),
  /** As it was set: `5 kJ/day`. */
  energy_budget: z.string(),
  budget_nj: wholeText,
  /** Charged on this day of UTC. */
  used_nj: wholeText,
  /** `warning` from four fifths on; `exceeded`: less is left than admits a request, or it stopped something. */
  state: z.enum(['within', 'warning', 'exceeded']),
  /** The next 00:00 UTC. */
  renewed_at: z.iso.datetime(),
})
export type BudgetEntry = z.infer<typeof budgetEntry>

/** GET /v1/budgets. */
export const budgetList = listPageOf(budgetEntry)
