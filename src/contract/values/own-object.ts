// Bodies that are ours alone. OpenAI's clients send fields of their own, which change nothing; where the operation
// is ours, a field that nobody knows is a mistake: `expires_in: 60` gave an address of an hour.
import { z } from 'zod'
import { nearest } from '#base/nearest.ts'

/** An object that refuses unknown fields, and names those that it knows. Its texts are for the state: none has a NUL. */
export const ownObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z
    .strictObject(shape, {
      error: (issue) =>
        issue.code === 'unrecognized_keys' ? unknown(issue.keys, Object.keys(shape)) : undefined,
    })
    .check(({ value, issues }) => {
      for (const [field, one] of Object.entries(value))
        if ([one].flat().some((text) => typeof text === 'string' && text.includes('\0')))
          issues.push({
            code: 'custom',
            message: 'it has a NUL character',
            path: [field],
            input: one,
          })
    })

function unknown([sent = '']: readonly string[], known: readonly string[]): string {
  const meant = nearest(sent, known)
  const fields = known.join(', ') || 'none'
  return meant === undefined
    ? `it is not known here; there are ${fields}`
    : `it is not known here: did you mean ${meant}? There are ${fields}`
}
