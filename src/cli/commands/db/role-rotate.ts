// ergon db role rotate.
import type { CommandCall } from '#cli/call.ts'
import { apiPut } from '#cli/client.ts'
import { rolesPath } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [name = '', role = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPut(options, `${rolesPath(name, role)}/password`)
  if (options.json) printJson(JSON.parse(text) as object)
  else tell(`The new connection string: ergon db url ${name} --role ${role}`)
}
