// ergon fn discard: failed runs are forgotten.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { functionPath } from '#cli/functions.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import type { functionDiscarded } from '#contract/functions/functions.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const id = textOption(options, 'id')
  const all = options['all'] === true
  if ((id === undefined) !== all)
    throw new CommandError(
      'Could not tell which runs are meant: give --id or --all',
      EXIT.usage,
      `ergon fn failures ${name}`,
    )
  const path = `${functionPath(name)}/failures/discard`
  const answer = await apiPost(options, path, all ? { all } : { id })
  const made = replyOf<typeof functionDiscarded>(answer)
  if (options.json) return printJson(made)
  tell(`${made.runs} ${made.runs === 1 ? 'run is' : 'runs are'} forgotten`)
}
