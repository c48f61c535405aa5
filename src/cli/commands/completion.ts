// ergon completion: a script for the shell.
import type { CommandCall } from '#cli/call.ts'
import { completionScript, SHELLS } from '#cli/completion.ts'
import { CommandError, EXIT, print } from '#cli/output.ts'

export async function run({ words: [name = ''], usages }: CommandCall): Promise<void> {
  const shell = SHELLS.find((known) => known === name)
  if (shell === undefined)
    throw new CommandError(`Not a shell I know: "${name}"`, EXIT.usage, 'ergon completion bash')
  print(completionScript(shell, usages))
}
