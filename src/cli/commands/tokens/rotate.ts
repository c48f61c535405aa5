// ergon tokens rotate: the new secret is printed once, alone on stdout. A rotated token of `ergon login` is replaced there.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { durationMs } from '#cli/duration.ts'
import { print, printJson, tell } from '#cli/output.ts'
import { replaceStoredToken } from '#cli/profile.ts'
import type { rotatedTokenReply } from '#contract/identity/tokens.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const overlap = durationMs(textOption(options, 'overlap') ?? '0s', '--overlap 24h')
  const answer = await apiPost(options, `/v1/tokens/${encodeURIComponent(id)}/rotate`, {
    overlap_s: overlap / 1000,
  })
  const made = replyOf<typeof rotatedTokenReply>(answer)
  const file = made.replaces.current ? replaceStoredToken(options, made.token) : undefined
  if (file !== undefined) tell(`${file} has the new token`)
  if (options.json) return printJson(made)
  const until = made.replaces.expires_at
  const end = made.replaces.status === 'revoked' ? 'is revoked' : `ends at ${until}`
  tell(`${made.id} replaces ${id}, which ${end}; shown this once:`)
  print(made.token)
}
