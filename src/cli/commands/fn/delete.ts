// ergon fn delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { functionPath } from '#cli/functions.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import type { functionDeleted } from '#contract/functions/functions.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  if (options['force'] !== true)
    throw new CommandError(
      `${name} would be deleted`,
      EXIT.usage,
      `ergon fn delete ${name} --force`,
    )
  const { text } = await apiDelete(options, functionPath(name))
  if (options.json) printJson(replyOf<typeof functionDeleted>({ text }))
  else tell(`${name} is deleted`)
}
