// The error codes of inference.
import { caller, final, service, type ErrorTable } from '#contract/error-entry.ts'

export const INFERENCE_ERRORS = {
  context_length_exceeded: caller(
    400,
    'Shorten the messages, or name a model with a longer context.',
  ),
  unsupported_parameter: caller(400, 'Leave the parameter out, or name a model that supports it.'),
  model_not_found: caller(404, 'List the models with GET /v1/models.', 'not_found_error'),
  upstream_failed: service(
    502,
    'Retry, or name another model. What models spent on an answer of which nothing came is not charged.',
  ),
  model_loading: service(503, 'Retry after the time in Retry-After.'),
  model_not_available: final(
    service(
      503,
      '`ergon models list` says what runs and why not; the operator adds models: `ergon models add <name>`.',
    ),
  ),
  upstream_timeout: service(
    504,
    'Retry, or lower max_tokens. What models spent on an answer of which nothing came is not charged.',
  ),
} as const satisfies ErrorTable
