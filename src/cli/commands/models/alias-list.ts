// ergon models alias list: further names of models, and the model of each.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const aliases = await control(options, 'alias.list', {})
  if (options.json) return printJson(aliases)
  print(
    table(
      ['ALIAS', 'MODEL'],
      aliases.map(({ name, model }) => [name, model]),
    ),
  )
}
