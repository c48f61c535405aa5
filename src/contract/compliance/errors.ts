// The error codes of evidence packs.
import { caller, type ErrorTable } from '#contract/error-entry.ts'

export const COMPLIANCE_ERRORS = {
  pack_not_found: caller(404, 'Check the id: `ergon evidence list`.', 'not_found_error'),
  pack_not_ready: caller(409, 'Wait until the status of the pack is "ready".'),
  pack_range_invalid: caller(416, 'Ask for bytes that the pack has: see size_bytes.'),
  too_many_packs: caller(409, 'Wait until a pack is made, or delete one that waits.'),
} as const satisfies ErrorTable
