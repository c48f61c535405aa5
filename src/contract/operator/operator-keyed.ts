// The key of an operation of the operator that makes money.
import { z } from 'zod'

/** Repetitions with the same key and the same fields are answered as the first request, for a day. */
export const operatorKeyed = {
  idempotency_key: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 ASCII characters')
    .optional(),
}
