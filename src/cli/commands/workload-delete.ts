// ergon delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { workloadPath } from '#cli/workloads.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  if (options['force'] !== true)
    throw new CommandError(`${name} would be deleted`, EXIT.usage, `ergon delete ${name} --force`)
  const { text } = await apiDelete(options, workloadPath(name))
  if (options.json) printJson(JSON.parse(text))
  else tell(`${name} is deleted`)
}
