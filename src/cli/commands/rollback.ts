// ergon rollback.
import { textOption, type CommandCall } from '#cli/call.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'
import { isSuspendedByAccount, resumedText } from '#cli/versions.ts'
import { askWorkload, getWorkload, waitForWorkload } from '#cli/workloads.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const to = textOption(options, 'to')
  if (to !== undefined && !/^\d{1,9}$/.test(to))
    throw new CommandError(`Not a version: ${to}`, EXIT.usage, `ergon workloads show ${name}`)
  const body = to === undefined ? {} : { version: Number(to) }
  const before = await getWorkload(options, name)
  const { version } = await askWorkload(options, name, 'rollback', body)
  if (isSuspendedByAccount(before)) tell(resumedText(name))
  const made = await waitForWorkload(options, name, version)
  if (options.json) return printJson(made)
  tell(`version ${version} of ${name} answers`)
  print(made.url)
}
