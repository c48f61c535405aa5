// ergon db role create.
import type { CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { rolesPath } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'
import type { databaseRoleReply } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = '', role = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPost(options, rolesPath(name), {
    name: role,
    read_only: options['readOnly'] === true,
  })
  if (options.json) printJson(replyOf<typeof databaseRoleReply>({ text }))
  else tell(`Its connection string: ergon db url ${name} --role ${role}`)
}
