// ergon db delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { databasePath } from '#cli/databases.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import type { ReplyOf } from '#contract/reply-of.ts'
import type { databaseDeleted } from '#contract/databases.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  if (options['force'] !== true)
    throw new CommandError(
      `${name} would be deleted`,
      EXIT.usage,
      `ergon db delete ${name} --force`,
    )
  const deleted = replyOf<typeof databaseDeleted>(await apiDelete(options, databasePath(name)))
  if (options.json) printJson(deleted)
  else tell(`${name} is deleted. ${afterwards(deleted, name)}`)
}

const afterwards = (
  { id, restorable_until: until }: ReplyOf<typeof databaseDeleted>,
  name: string,
): string =>
  until === null
    ? 'It had no backup yet'
    : `Until ${until} it can be restored: ergon db restore ${id} --as ${name}`
