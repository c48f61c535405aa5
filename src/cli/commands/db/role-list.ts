// ergon db role list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { rolesPath } from '#cli/databases.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { databaseRoleList } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const list = replyOf<typeof databaseRoleList>(await apiGet(options, rolesPath(name)))
  if (options.json) return printJson(list)
  const rows = list.data.map((role) => [role.name, role.login, role.read_only ? 'reads' : 'all'])
  print(table(['ROLE', 'LOGIN', 'RIGHTS'], rows))
}
