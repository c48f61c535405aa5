// ergon db delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { databasePath } from '#cli/databases.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  if (options['force'] !== true)
    throw new CommandError(
      `Everything in ${name} would be deleted for good`,
      EXIT.usage,
      `ergon db delete ${name} --force`,
    )
  const { text } = await apiDelete(options, databasePath(name))
  if (options.json) printJson(JSON.parse(text))
  else tell(`${name} is deleted`)
}
