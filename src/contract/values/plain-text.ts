// Words that people give to things: terminals and pages of others print them.
import { z } from 'zod'

/**
 * Control and format characters (Unicode's Cc and Cf) move cursors, set titles and reverse lines. PostgreSQL's jsonb takes
 * no half of a surrogate pair (Cs).
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}]/u

export const plainText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !HIDDEN.test(text), 'must be text without control characters')
