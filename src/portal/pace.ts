// The pace of callers who are not signed in: the limit of requests from a network in a minute, at each gateway.
import type { Clock } from '#base/clock.ts'
import { networkOf } from '#base/subnets.ts'
import type { ClientOf } from '#http/client-of.ts'
import { createRates } from '#http/request-rates.ts'
import type { OperationCall } from '#http/reply.ts'
import { networkAsker, type WaitingAsker } from './waiting.ts'

/** Requests of a network in a minute, by the kind of request. */
export const PACE_PER_MINUTE = {
  /** Challenges for a passkey: each opened page asks for one. */
  options: 240,
  /** Answers of passkeys. */
  passkeys: 120,
  /** Recovery codes that are tried. */
  codes: 10,
  /** Logins of command lines, and their polls for the approval. */
  logins: 240,
} as const

export type StrangerPace = {
  /** Throws rate_limit_exceeded. */
  take(call: Pick<OperationCall, 'socket' | 'headers'>, what: keyof typeof PACE_PER_MINUTE): void
  /** The network address that asks. */
  addressOf(call: Pick<OperationCall, 'socket' | 'headers'>): string
  /** The asking network, by which waiting entries are counted. */
  askerOf(call: Pick<OperationCall, 'socket' | 'headers'>): WaitingAsker
}

export function createPace(deps: {
  readonly clientOf: ClientOf
  readonly clock: Pick<Clock, 'monotonicMs'>
}): StrangerPace {
  const rates = createRates(deps.clock)
  return {
    take(call, what) {
      const network = networkOf(deps.clientOf(call).address)
      rates.take([{ key: `${what} ${network}`, name: 'network', perMinute: PACE_PER_MINUTE[what] }])
    },
    addressOf: (call) => deps.clientOf(call).address,
    askerOf: (call) => networkAsker(deps.clientOf(call).address),
  }
}
