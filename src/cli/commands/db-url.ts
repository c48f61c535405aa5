// ergon db url: the connection string alone, for scripts.
import { textOption, type CommandCall } from '#cli/call.ts'
import { urlOf } from '#cli/databases.ts'
import { print, printJson } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const url = await urlOf(options, name, textOption(options, 'role'))
  if (options.json) printJson({ url })
  else print(url)
}
