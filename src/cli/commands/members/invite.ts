// ergon members invite: the code is printed once, alone on stdout.
import { textOption, type CommandCall } from '#cli/call.ts'
import { isId } from '#base/ids.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { baseUrlOf } from '#cli/profile.ts'
import { durationMs } from '#cli/duration.ts'
import { CommandError, EXIT, print, tell } from '#cli/output.ts'
import type { invitedReply } from '#contract/accounts/members.ts'

const DAY_MS = 86_400_000

export async function run({ options, words: [who = ''] }: CommandCall): Promise<void> {
  const expires = textOption(options, 'expires')
  if (options['again'] !== true && isId('mem', who))
    throw new CommandError(
      `"${who}" is the id of a member, and no name`,
      EXIT.usage,
      `ergon members invite ${who} --again`,
    )
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
  const made = replyOf<typeof invitedReply>({ text })
  tell(`${made.id}, role ${made.role}, until ${made.invitation_expires_at}; shown this once:`)
  print(made.invitation_code)
  const at = `--base-url ${baseUrlOf(options)}`
  tell('The member stores the first token with:')
  tell(`  ergon members accept <code> ${at} | ergon login ${at}`)
}
