// ergon tokens set: the limits of a token.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPatch, replyOf } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { limitsText, readLimits } from '#cli/tokens.ts'
import type { tokenReply } from '#contract/identity/tokens.ts'

const EXAMPLE = 'ergon tokens set tok_… --rate 600 --energy-budget "5 kJ/day"'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const change = readLimits(textOption(options, 'rate'), textOption(options, 'energyBudget'))
  if (Object.keys(change).length === 0)
    throw new CommandError('Give --rate or --energy-budget, or both', EXIT.usage, EXAMPLE)
  const token = replyOf<typeof tokenReply>(
    await apiPatch(options, `/v1/tokens/${encodeURIComponent(id)}`, change),
  )
  if (options.json) return printJson(token)
  tell(`${id}: ${limitsText(token)}`)
}
