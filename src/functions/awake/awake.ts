// The request of the ingress to the agent to keep a function running. It stays open while requests use the function. Its
// end, also that of a killed ingress, lets the function stop when it is idle.
import { ErgonError } from '#base/errors.ts'
import { fault, type Code } from '#contract/errors.ts'
import type { HeldFor } from '#resources/resource.ts'

/** The group of the agent's socket. */
export const FUNCTION_AGENT_SOCKETS = 'fn-agent'

/** The lines of the answer: where it listens; or, as the last one, why it must not be used. */
export type FunctionAwakeLine =
  | { readonly address: string }
  | { readonly refused: Code; readonly message: string }
  | { readonly replaced: true }

/** The refusal for a request to the function: a used budget is no fault of the caller. */
export function refusalLine(error: unknown, name: string): FunctionAwakeLine | undefined {
  if (!(error instanceof ErgonError)) return undefined
  const words = (code: Code, why: string) => ({
    refused: code,
    message: `Could not run the function "${name}": ${why}`,
  })
  switch (error.code) {
    case 'budget_exhausted':
      return words('function_budget_exhausted', "today's energy budget is used up")
    case 'balance_depleted':
    case 'free_tier_exceeded':
      return words('balance_depleted', 'its account cannot pay for its energy')
    case 'state_unavailable':
      return words('function_starting', 'its energy cannot be charged now')
    case 'function_failed':
      return words('function_failed', 'its code cannot be loaded')
    default:
      return undefined
  }
}

/** An end that says nothing: the node stops, or the cell could not be made. */
export const unstarted = (name: string): FunctionAwakeLine => ({
  refused: 'function_starting',
  message: `Could not start the function "${name}" now`,
})

const HELD: Readonly<Record<NonNullable<HeldFor>, readonly [Code, string]>> = {
  balance: ['balance_depleted', 'its account cannot pay for its energy'],
  suspended: ['account_suspended', 'its account is suspended'],
  deleting: ['account_deleting', 'its account is being deleted'],
}

/** The refusal of a function that its owner, or the service, holds suspended. */
export function suspendedLine(name: string, held: HeldFor): FunctionAwakeLine {
  const [refused, why] =
    held === null ? (['function_suspended', 'it is suspended'] as const) : HELD[held]
  return { refused, message: `Could not run the function "${name}": ${why}` }
}

/** The error of a refusal. */
export const errorOfLine = ({
  refused,
  message,
}: Extract<FunctionAwakeLine, { refused: Code }>): ErgonError =>
  fault(refused, message, refused === 'function_starting' ? { retryAfterS: 2 } : {})
