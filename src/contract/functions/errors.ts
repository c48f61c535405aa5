// The error codes of functions: of the API, and of requests to their routes.
import {
  account,
  caller,
  final,
  service,
  complete,
  type ErrorTable,
} from '#contract/error-entry.ts'

export const FUNCTIONS_ERRORS = {
  function_not_found: caller(404, 'Check the name: `ergon fn list`.', 'not_found_error'),
  function_version_not_found: caller(
    404,
    'Choose a version that is kept: `ergon fn show`.',
    'not_found_error',
  ),
  function_run_not_found: caller(404, 'Check the id: `ergon fn failures`.', 'not_found_error'),
  function_bucket_not_found: caller(422, 'Create the bucket first: `ergon storage mb`.'),
  runtime_unknown: complete(caller(422, 'Choose a runtime that the message names.')),
  route_taken: caller(409, 'Choose another route, or delete the function that has it.'),
  too_many_functions: caller(409, 'Delete a function that is not needed any more.'),
  functions_off: service(
    503,
    'The service runs no functions: the operator starts it with ERGON_FUNCTIONS=on, on a machine that can isolate them.',
  ),
  route_not_found: caller(404, 'Check the address: `ergon fn list`.', 'not_found_error'),
  function_failed: service(502, 'Its owner finds why in its log: `ergon fn logs`.'),
  function_crashed: service(502, 'Its owner finds why in its log: `ergon fn logs`.'),
  function_timeout: service(504, 'Its owner can give it more time: `ergon fn deploy --timeout`.'),
  function_busy: service(503, 'Retry after the time in Retry-After.'),
  function_starting: service(503, 'Retry after the time in Retry-After.'),
  function_suspended: final(account(503, 'api_error', 'Its owner resumes it: `ergon fn resume`.')),
  function_budget_exhausted: final(
    account(
      503,
      'api_error',
      'Its owner raises the budget by `ergon fn budget NAME "10 kJ/day"`, or it is renewed at 00:00 UTC.',
    ),
  ),
} as const satisfies ErrorTable
