// The figures of a settled charge inside JSON bodies. They must be the very text of the headers.
import { printJoules, printMilligrams } from '#base/units.ts'
import { chargeCarbon, chargeEnergy, type Charge } from '#contract/charge.ts'
import { rawNumber } from '#contract/raw-json.ts'
import type { TokenUsage } from '#inference/providers/provider.ts'

export const energyFigures = (charge: Charge) => ({
  energy_j: rawNumber(printJoules(chargeEnergy(charge))),
  carbon_mg: rawNumber(printMilligrams(chargeCarbon(charge))),
})

/** OpenAI's usage object with what the request cost. */
export const usageJson = (usage: TokenUsage, charge: Charge) => ({
  prompt_tokens: usage.promptTokens,
  completion_tokens: usage.completionTokens,
  total_tokens: usage.promptTokens + usage.completionTokens,
  ...(usage.promptDetails && { prompt_tokens_details: usage.promptDetails }),
  ...(usage.completionDetails && { completion_tokens_details: usage.completionDetails }),
  ...energyFigures(charge),
})
