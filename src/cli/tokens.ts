// The limits of a token, in options and in tables.
import { CommandError, EXIT } from './output.ts'
import type { TokenLimits, TokenReply } from '#contract/identity/tokens.ts'

const NONE = 'none'

/** The limits that options name; `none` removes one. */
export function readLimits(rate: string | undefined, budget: string | undefined): TokenLimits {
  return {
    ...(rate !== undefined && { requests_per_minute: rate === NONE ? null : readRate(rate) }),
    ...(budget !== undefined && { energy_budget: budget === NONE ? null : budget }),
  }
}

function readRate(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text)
  throw new CommandError(`Could not read --rate: "${text}"`, EXIT.usage, '--rate 600, or none')
}

type Limited = Pick<TokenReply, 'requests_per_minute' | 'energy_budget' | 'energy_budget_used_j'>

/** `600 requests a minute, 12.5 J of 5 kJ/day`, or `no limits`. */
export function limitsText(token: Limited): string {
  const { requests_per_minute: rate, energy_budget: budget, energy_budget_used_j: usedJ } = token
  const texts = [
    ...(rate === null ? [] : [`${rate} requests a minute`]),
    ...(budget === null ? [] : [`${(usedJ ?? 0).toFixed(1)} J of ${budget}`]),
  ]
  return texts.length === 0 ? 'no limits' : texts.join(', ')
}
