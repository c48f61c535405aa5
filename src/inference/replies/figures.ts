// The figures of a settled charge inside JSON bodies. They must be the very text of the headers, so they are
// written as text: a double would change their digits.
import { printJoules, printMilligrams } from '#base/units.ts'
import { chargeCarbon, chargeEnergy, type Charge } from '#contract/ledger/charge.ts'
import type { TokenUsage } from '#inference/providers/provider.ts'

/** OpenAI's usage object with energy and carbon of the request, as JSON text. `completion` is absent for embeddings. */
export function usageText(
  usage: Omit<TokenUsage, 'completionTokens'> & Partial<TokenUsage>,
  charge: Charge,
): string {
  const { promptTokens, completionTokens, promptDetails, completionDetails } = usage
  const completion =
    completionTokens === undefined ? '' : `"completion_tokens":${completionTokens},`
  const total = promptTokens + (completionTokens ?? 0)
  return (
    `{"prompt_tokens":${promptTokens},${completion}"total_tokens":${total}` +
    detailsOf('prompt_tokens_details', promptDetails) +
    detailsOf('completion_tokens_details', completionDetails) +
    `,"energy_j":${printJoules(chargeEnergy(charge))}` +
    `,"carbon_mg":${printMilligrams(chargeCarbon(charge))}}`
  )
}

const detailsOf = (name: string, details: object | undefined): string =>
  details === undefined ? '' : `,"${name}":${JSON.stringify(details)}`
