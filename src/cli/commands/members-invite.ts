// ergon members invite: the code is printed once, alone on stdout.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost } from '#cli/client.ts'
import { durationMs } from '#cli/duration.ts'
import { print, tell } from '#cli/output.ts'
import type { InvitedReply } from '#contract/members.ts'

const DAY_MS = 86_400_000

export async function run({ options, words: [who = ''] }: CommandCall): Promise<void> {
  const expires = textOption(options, 'expires')
  const life =
    expires === undefined ? {} : { expires_days: durationMs(expires, '--expires 7d') / DAY_MS }
  const { text } =
    options['again'] === true
      ? await apiPost(options, `/v1/members/${encodeURIComponent(who)}/invitation`, life)
      : await apiPost(options, '/v1/members', {
          name: who,
          role: textOption(options, 'role') ?? 'developer',
          contact: textOption(options, 'contact'),
          ...life,
        })
  if (options.json) return print(text)
  const made = JSON.parse(text) as InvitedReply
  tell(`${made.id}, role ${made.role}, until ${made.invitation_expires_at}; shown this once:`)
  print(made.invitation_code)
  tell('The member accepts with: ergon members accept <code>')
}
