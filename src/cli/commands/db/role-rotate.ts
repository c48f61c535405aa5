// ergon db role rotate.
import type { CommandCall } from '#cli/call.ts'
import { apiPut, replyOf } from '#cli/client.ts'
import { rolesPath } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'
import type { databaseRoleReply } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = '', role = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPut(options, `${rolesPath(name, role)}/password`)
  if (options.json) printJson(replyOf<typeof databaseRoleReply>({ text }))
  else tell(`The new connection string: ergon db url ${name} --role ${role}`)
}
