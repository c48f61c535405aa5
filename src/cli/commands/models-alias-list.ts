// ergon models alias list: further names of models, and the model of each.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

type Alias = { name: string; model: string }

export async function run({ options }: CommandCall): Promise<void> {
  const aliases = (await control(options, { method: 'GET', path: '/model-aliases' })) as Alias[]
  if (options.json) return printJson(aliases)
  print(
    table(
      ['ALIAS', 'MODEL'],
      aliases.map(({ name, model }) => [name, model]),
    ),
  )
}
