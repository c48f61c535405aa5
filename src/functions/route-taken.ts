// A route belongs to one function of an account.
import { fault } from '#contract/errors.ts'

const UNIQUE = '23505'

/** The fault of a change that found the route of another function, which the error hints at; another error as it is. */
export function asRouteTaken(error: unknown): unknown {
  const { code, hint } = error as { readonly code?: string; readonly hint?: string }
  if (code !== UNIQUE) return error
  return routeTaken(hint ?? 'it')
}

export const routeTaken = (route: string) =>
  fault('route_taken', `Could not use the route: ${route} is another function's`, {
    param: 'route',
  })
