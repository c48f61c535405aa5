// A setting that is a list in JSON.
import { z } from 'zod'

/** Reads the text of the list. Faults name the place in the list, never a value: keys are in it. */
export const jsonList = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a list in JSON' })
    return z.NEVER
  }
})
