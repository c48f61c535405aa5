// ergon db delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { databasePath } from '#cli/databases.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  if (options['force'] !== true)
    throw new CommandError(
      `${name} would be deleted`,
      EXIT.usage,
      `ergon db delete ${name} --force`,
    )
  const { text } = await apiDelete(options, databasePath(name))
  if (options.json) printJson(JSON.parse(text))
  else tell(`${name} is deleted. ${afterwards(JSON.parse(text) as DeletedDatabase, name)}`)
}

type DeletedDatabase = { readonly id: string; readonly restorable_until: string | null }

const afterwards = ({ id, restorable_until: until }: DeletedDatabase, name: string): string =>
  until === null
    ? 'It had no backup yet'
    : `Until ${until} it can be restored: ergon db restore ${id} --as ${name}`
