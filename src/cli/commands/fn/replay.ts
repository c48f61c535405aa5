// ergon fn replay: failed runs are due again.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { functionPath } from '#cli/functions.ts'
import { printJson, tell } from '#cli/output.ts'
import type { functionReplayed } from '#contract/functions/functions.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const id = textOption(options, 'id')
  const path = `${functionPath(name)}/failures/replay`
  const answer = await apiPost(options, path, { ...(id !== undefined && { id }) })
  const made = replyOf<typeof functionReplayed>(answer)
  if (options.json) return printJson(made)
  tell(`${made.runs} ${made.runs === 1 ? 'run is' : 'runs are'} due again`)
}
