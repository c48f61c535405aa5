// Bodies that are ours alone. OpenAI's clients send members of their own, which change nothing; where the operation
// is ours, a member that nobody knows is a mistake: `expires_in: 60` gave an address of an hour.
import { z } from 'zod'

/** An object that refuses unknown members, and names those that it knows. */
export const ownObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys'
        ? `it is not known here; there are ${Object.keys(shape).join(', ') || 'none'}`
        : undefined,
  })
