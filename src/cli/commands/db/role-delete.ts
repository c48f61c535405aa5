// ergon db role delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { rolesPath } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [name = '', role = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, rolesPath(name, role))
  if (options.json) printJson(JSON.parse(text) as object)
  else tell(`${role} is being deleted`)
}
