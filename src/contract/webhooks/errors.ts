// The error codes of webhooks.
import { caller, service, type ErrorTable } from '#contract/error-entry.ts'

export const WEBHOOKS_ERRORS = {
  webhook_not_found: caller(404, 'Check the id: `ergon webhook list`.', 'not_found_error'),
  webhook_exists: caller(409, 'Change the endpoint that has this url, or delete it first.'),
  too_many_webhooks: caller(409, 'Delete an endpoint that is not needed any more.'),
  webhook_not_active: caller(409, 'Resume the endpoint first: `ergon webhook resume`.'),
  event_not_found: caller(404, 'Check the id: `ergon webhook log`.', 'not_found_error'),
  webhooks_off: service(
    503,
    'The service sends no webhooks: the operator starts it with ERGON_WEBHOOKS=on.',
  ),
} as const satisfies ErrorTable
