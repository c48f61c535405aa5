// Words that people give to things: terminals and pages of others print them.
import { z } from 'zod'

/** Control and format characters (Unicode's Cc and Cf) move cursors, set titles and reverse lines. */
const HIDDEN = /[\p{Cc}\p{Cf}]/u

export const plainText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !HIDDEN.test(text), 'must not have control characters')
