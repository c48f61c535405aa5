// Starts that the service has failed. Code, its owner or strangers can cause every other refusal of a start.
import { ErgonError } from '#base/errors.ts'
import { ERRORS, fault, type Code } from '#contract/errors.ts'
import { rulesOfKind, type RoutedKind } from './kinds.ts'

const AGAIN_S = 2

/** A failure of the service on the public status page. */
export class ServiceStartFault extends ErgonError {
  constructor(code: Code, message: string, retryAfterS: number) {
    super({ code, status: ERRORS[code].status }, message, { retryAfterS })
  }
}

/**
 * Nothing has started in a minute. The agent ends the load of a function long before that, and a container is late by its
 * image.
 */
export function unstartedFault(kind: RoutedKind): ErgonError {
  const { hasOurRuntime, refusals } = rulesOfKind(kind)
  const why = `Could not start the ${kind} in time`
  return hasOurRuntime
    ? new ServiceStartFault(refusals.starting, why, AGAIN_S)
    : fault(refusals.starting, why, { retryAfterS: AGAIN_S })
}

/** The agent is away, or has broken off. */
export const agentAwayFault = (kind: RoutedKind): ErgonError =>
  new ServiceStartFault(
    rulesOfKind(kind).refusals.starting,
    `Could not start the ${kind} now`,
    AGAIN_S,
  )
