// The error codes of object storage in the JSON API; storage-errors.ts has those of the S3 protocol.
import { service, type ErrorTable } from '#contract/error-entry.ts'

export const STORAGE_API_ERRORS = {
  storage_fenced: service(
    503,
    'A write or a sync of a blob failed: nothing more is written until the operator has looked at the disk and restarted the gateway.',
  ),
  storage_away: service(
    503,
    'The store of the bytes does not answer; retry after the time in Retry-After.',
  ),
  storage_full: service(507, 'The disk of the service is full; tell its operator.'),
} as const satisfies ErrorTable
