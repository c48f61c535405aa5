// ergon admin tasks run: a task runs now.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'task.run', { name })
  if (options.json) printJson(result)
  else tell(result.running ? `${name} runs already` : `${name} runs now`)
}
