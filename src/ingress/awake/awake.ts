// The request of the ingress to the agent to keep an instance of a resource running. It stays open while requests use the
// instance. Its end, also that of a killed ingress, lets the instance stop when it is idle.
import { ErgonError } from '#base/errors.ts'
import { fault, type Code } from '#contract/errors.ts'
import { rulesOfKind, type RoutedKind } from '#ingress/kinds.ts'
import { ServiceStartFault } from '#ingress/start-failure.ts'
import type { HeldFor } from '#resources/resource.ts'

/** The group of the agent's socket. */
export const INGRESS_AGENT_SOCKETS = 'in-agent'

/** The path of the request: the id of the resource, and the number of the instance from 1. */
export const pathOfInstance = ({ id, nth }: { readonly id: string; readonly nth: number }) =>
  `/${id}/${nth}`

export function instanceOfPath(path: string): { readonly id: string; readonly nth: number } {
  const [, id = '', nth = '1'] = path.split('/')
  return { id, nth: Number(nth) }
}

export type NamedResource = { readonly kind: RoutedKind; readonly name: string }

export type RefusedLine = {
  readonly refused: Code
  readonly message: string
  readonly retryAfterS?: number
  /** The service has failed: see ServiceStartFault. */
  readonly isOurs?: true
  /** It holds until something changes. While the answer is open, later requests are refused by it and ask nobody. */
  readonly stands?: true
}

/** The lines of the answer: where it listens, and the cell that it is; that it is loaded, where it was not yet; or, as the last one, why it must not be used. */
export type WakeLine =
  | { readonly address: string; readonly cell: string; readonly isLoading?: true }
  | { readonly loaded: true }
  | RefusedLine
  | { readonly replaced: true }

const AGAIN_S = 2

const lineOf = ({ kind, name }: NamedResource, refused: Code, why: string): RefusedLine => ({
  refused,
  message: `Could not run the ${kind} "${name}": ${why}`,
  ...(refused === rulesOfKind(kind).refusals.starting && { retryAfterS: AGAIN_S }),
})

const standing = (line: RefusedLine): RefusedLine => ({ ...line, stands: true })

/** The refusal for a request to the resource: a used budget is no fault of the caller. */
export function refusalLine(error: unknown, named: NamedResource): RefusedLine | undefined {
  if (!(error instanceof ErgonError)) return undefined
  const { budgetExhausted, starting, failed, busy } = rulesOfKind(named.kind).refusals
  switch (error.code) {
    case 'budget_exhausted':
      return standing(lineOf(named, budgetExhausted, USED_UP))
    case 'balance_depleted':
    case 'free_tier_exceeded':
      return standing(lineOf(named, 'balance_depleted', 'its account cannot pay for its energy'))
    case 'state_unavailable':
      return { ...lineOf(named, starting, 'its energy cannot be charged now'), isOurs: true }
    case busy:
      return { refused: busy, message: error.message, retryAfterS: error.retryAfterS ?? AGAIN_S }
    case 'registry_unreachable':
      return lineOf(named, starting, 'its image cannot be pulled now')
    default:
      if (error.code.startsWith('image_')) return lineOf(named, failed, error.message)
      return error.code === failed
        ? lineOf(named, failed, rulesOfKind(named.kind).whyFailed)
        : undefined
  }
}

/** Its first version is being tried, or has failed: the account's code and its owner decide for how long. */
export const unlive = (named: NamedResource): RefusedLine =>
  lineOf(named, rulesOfKind(named.kind).refusals.starting, 'no version of it is live yet')

/**
 * An end that says nothing: the node stops, or the cell could not be made. Code can cause the latter, as by an answer in place
 * of its runtime.
 */
export const unstarted = ({ kind, name }: NamedResource): RefusedLine => ({
  refused: rulesOfKind(kind).refusals.starting,
  message: `Could not start the ${kind} "${name}" now`,
  retryAfterS: AGAIN_S,
})

const USED_UP = "today's energy budget is used up"
const HELD: Readonly<Record<Exclude<HeldFor, 'budget' | null>, readonly [Code, string]>> = {
  balance: ['balance_depleted', 'its account cannot pay for its energy'],
  suspended: ['account_suspended', 'its account is suspended'],
  deleting: ['account_deleting', 'its account is being deleted'],
}

/** The refusal of a resource that its owner, or the service, holds suspended. */
export function suspendedLine(named: NamedResource, held: HeldFor): RefusedLine {
  const { suspended, budgetExhausted } = rulesOfKind(named.kind).refusals
  if (held === null) return standing(lineOf(named, suspended, 'it is suspended'))
  const why = held === 'budget' ? ([budgetExhausted, USED_UP] as const) : HELD[held]
  return standing(lineOf(named, ...why))
}

/** The error of a refusal. */
export const errorOfLine = ({ refused, message, retryAfterS, isOurs }: RefusedLine): ErgonError =>
  isOurs === true
    ? new ServiceStartFault(refused, message, retryAfterS ?? AGAIN_S)
    : fault(refused, message, retryAfterS === undefined ? {} : { retryAfterS })
