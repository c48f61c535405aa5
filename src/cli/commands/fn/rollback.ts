// ergon fn rollback.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { functionPath, getFunction, waitForFunction } from '#cli/functions.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'
import { isSuspendedByAccount, resumedText } from '#cli/versions.ts'
import type { functionReply } from '#contract/functions/functions.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const version = textOption(options, 'to')
  if (version !== undefined && !/^\d{1,9}$/.test(version))
    throw new CommandError(`Not a version: ${version}`, EXIT.usage, `ergon fn show ${name}`)
  const before = await getFunction(options, name)
  const answer = await apiPost(options, `${functionPath(name)}/rollback`, {
    ...(version !== undefined && { version: Number(version) }),
  })
  if (isSuspendedByAccount(before)) tell(resumedText(name))
  const wanted = replyOf<typeof functionReply>(answer).version
  const made = await waitForFunction(options, name, wanted)
  if (options.json) return printJson(made)
  tell(`version ${wanted} of ${name} answers`)
  print(made.url)
}
