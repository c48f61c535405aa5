// ergon admin account create.
import { control } from '#cli/client.ts'
import { print, printJson } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const body = { env: options['env'] ?? 'test' }
  const made = (await control(options, { method: 'POST', path: '/accounts', body })) as {
    id: string
  }
  if (options.json) printJson(made)
  else print(made.id)
}
