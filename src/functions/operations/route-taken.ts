// A route belongs to one function of an account.
import { fault } from '#contract/errors.ts'

const UNIQUE = '23505'

/** The fault of a change that found the route of another function; another error as it is. */
export const asRouteTaken = (error: unknown, route: string): unknown =>
  (error as { code?: string }).code === UNIQUE
    ? fault('route_taken', `Could not use the route: ${route} is another function's`, {
        param: 'route',
      })
    : error
