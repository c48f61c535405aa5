// The error codes of the operator's operations on the portal.
import { caller, type ErrorTable } from '#contract/error-entry.ts'

export const OPERATOR_API_ERRORS = {
  operator_only: caller(
    403,
    "Ask an owner or an admin of the operator's account, which is the first of the node.",
    'permission_error',
  ),
  operator_account: caller(409, 'Choose another account: the operator needs this one.'),
  account_not_suspended: caller(409, 'The account is not suspended: nothing is to be done.'),
  alarm_not_found: caller(404, 'Check the id: GET /v1/operator/alarms.', 'not_found_error'),
  incident_not_found: caller(404, 'Check the id: GET /v1/operator/incidents.', 'not_found_error'),
  incident_open: caller(409, 'The region has an open incident: close that first.'),
} as const satisfies ErrorTable
