// ergon admin account create.
import { control } from '#cli/client.ts'
import { CommandError, EXIT, print, printJson } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const { env } = options
  if (env !== undefined && env !== 'live' && env !== 'test')
    throw new CommandError(`--env is live or test, not: ${String(env)}`, EXIT.usage)
  const made = await control(options, 'account.create', { env })
  if (options.json) printJson(made)
  else print(made.id)
}
