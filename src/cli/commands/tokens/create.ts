// ergon tokens create: the secret is printed once, alone on stdout.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { durationMs } from '#cli/duration.ts'
import { print, printJson, tell } from '#cli/output.ts'
import { limitsText, readLimits } from '#cli/tokens.ts'
import type { newTokenReply } from '#contract/identity/tokens.ts'

const DAY_MS = 86_400_000

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const expires = textOption(options, 'expires')
  const answer = await apiPost(options, '/v1/tokens', {
    name,
    scope: textOption(options, 'scope'),
    expires_days: expires === undefined ? undefined : durationMs(expires, '--expires 90d') / DAY_MS,
    ...readLimits(textOption(options, 'rate'), textOption(options, 'energyBudget')),
  })
  const made = replyOf<typeof newTokenReply>(answer)
  if (options.json) return printJson(made)
  const until = made.expires_at === null ? '' : `, valid until ${made.expires_at}`
  tell(`${made.id}, scope ${made.scope}${until}, ${limitsText(made)}; shown this once:`)
  print(made.token)
}
