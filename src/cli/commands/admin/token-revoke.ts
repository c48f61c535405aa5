// ergon admin token revoke: returns when no gateway can honour the token any more.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [token = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'token.revoke', { token })
  if (options.json) printJson(result)
  else tell(`${token} is revoked`)
}
