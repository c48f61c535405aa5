// ergon db role list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet } from '#cli/client.ts'
import { rolesPath, type DatabaseRole } from '#cli/databases.ts'
import { print, printJson, table } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const list = JSON.parse((await apiGet(options, rolesPath(name))).text) as { data: DatabaseRole[] }
  if (options.json) return printJson(list)
  const rows = list.data.map((role) => [role.name, role.login, role.read_only ? 'reads' : 'all'])
  print(table(['ROLE', 'LOGIN', 'RIGHTS'], rows))
}
