// ergon fn delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { confirmDeletion, isConfirmed } from '#cli/confirm-deletion.ts'
import { functionPath, getFunction } from '#cli/functions.ts'
import { printJson, tell } from '#cli/output.ts'
import type { functionDeleted } from '#contract/functions/functions.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  if (!isConfirmed(options)) {
    await getFunction(options, name)
    const loss = `The function ${name} would be deleted with its versions and its log`
    await confirmDeletion(options, { name, loss, command: `ergon fn delete ${name}` })
  }
  const { text } = await apiDelete(options, functionPath(name))
  if (options.json) printJson(replyOf<typeof functionDeleted>({ text }))
  else tell(`${name} is deleted`)
}
