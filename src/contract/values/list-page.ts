// Lists with pages: the parameters that all of them take, and their form.
import { z } from 'zod'

export const PAGE_LIMIT = 100
export const PAGE_LIMIT_MAX = 1000

/** Parameters; values are checked by http/list-page.ts, which names the parameter at fault. */
export const pageQuery = {
  /** Entries of a page: 100 by default. */
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).optional(),
  /** The `next_cursor` of the page before. */
  cursor: z.string().optional(),
}

export const listPageOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.object({
    object: z.literal('list'),
    data: z.array(entry),
    has_more: z.boolean(),
    /** The parameter `cursor` for the entries that follow. */
    next_cursor: z.string().nullable(),
  })
