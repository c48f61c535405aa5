// The error codes of deployments.
import { caller, complete, type ErrorTable } from '#contract/error-entry.ts'

export const DEPLOYMENTS_ERRORS = {
  description_invalid: complete(
    caller(422, 'Mend the description at the place that the message names.'),
  ),
  resource_in_other_stack: caller(
    409,
    'Deploy it by the stack that has it, or take it out of that description first.',
  ),
  deployment_running: caller(
    409,
    'Wait until the deployment that the message names has ended, or end it: `ergon deployments cancel`.',
  ),
  too_many_deployments: caller(409, 'Wait until a deployment of another stack has ended.'),
  deployment_ended: caller(409, 'Nothing is left to cancel. Deploy again to change what it did.'),
  plan_changed: caller(409, 'Look at the new plan, and apply that.'),
  deployment_not_found: caller(404, 'Check the id: `ergon deployments list`.', 'not_found_error'),
} as const satisfies ErrorTable
