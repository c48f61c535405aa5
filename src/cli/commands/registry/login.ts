// ergon registry login: the password comes from stdin, never from a word of the command, which others can see.
import { text } from 'node:stream/consumers'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPut, replyOf } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { registryPath } from '#cli/registries.ts'
import type { registryReply } from '#contract/workloads/registries.ts'

export async function run({ options, words: [registry = ''] }: CommandCall): Promise<void> {
  const username = textOption(options, 'username')
  if (username === undefined || options['passwordStdin'] !== true)
    throw new CommandError(
      '--username and --password-stdin are needed',
      EXIT.usage,
      `printenv PASSWORD | ergon registry login ${registry} --username <name> --password-stdin`,
    )
  const password = (await text(process.stdin)).replace(/\r?\n$/, '')
  const answer = await apiPut(options, registryPath(registry), { username, password })
  if (options.json) printJson(replyOf<typeof registryReply>(answer))
  else tell(`The password of ${username} at ${registry} is kept for pulls`)
}
