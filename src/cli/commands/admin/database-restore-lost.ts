// ergon admin database restore-lost: the databases whose files are missing come back from their backups.
import { control } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const databases = await control(options, 'database.restore-lost', {})
  if (options.json) return printJson(databases)
  if (databases.length === 0) return tell('No database has lost its files')
  print(
    table(
      ['DATABASE', 'ACCOUNT', 'NAME', 'IS RESTORED TO'],
      databases.map((one) => [
        one.id,
        one.account,
        one.name,
        one.is_restoring ? (one.stored_to ?? 'its last row') : 'never: it has no backup yet',
      ]),
    ),
  )
}
