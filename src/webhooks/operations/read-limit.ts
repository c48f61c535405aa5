// The limit of a page of the lists of webhooks.
import { fault } from '#contract/errors.ts'
import { WEBHOOK_PAGE_MAX } from '#contract/webhooks.ts'

const LIMIT = 100

/** Throws invalid_request. */
export function readLimit(query: URLSearchParams): number {
  const text = query.get('limit')
  if (text === null) return LIMIT
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= WEBHOOK_PAGE_MAX) return limit
  throw fault('invalid_request', `Could not list: limit is from 1 to ${WEBHOOK_PAGE_MAX}`, {
    param: 'limit',
  })
}
