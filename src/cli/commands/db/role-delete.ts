// ergon db role delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { rolesPath } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'
import type { databaseRoleDeleted } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = '', role = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, rolesPath(name, role))
  if (options.json) printJson(replyOf<typeof databaseRoleDeleted>({ text }))
  else tell(`${role} is being deleted`)
}
