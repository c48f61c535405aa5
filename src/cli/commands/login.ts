// ergon login: keeps a token for later calls. It comes from stdin, never from a flag, which others on
// the machine could read; it is checked before it is kept.
import { text } from 'node:stream/consumers'
import { apiGet } from '#cli/client.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'
import { baseUrlOf, storeCredentials } from '#cli/profile.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  if (process.stdin.isTTY) tell('Paste the token, then Ctrl-D:')
  const token = (await text(process.stdin)).trim()
  if (!token.startsWith('svc_'))
    throw new CommandError('That is no token: it begins with svc_', EXIT.usage)
  const baseUrl = baseUrlOf(options)
  await apiGet(options, '/v1/models', { token })
  tell(`Logged in to ${baseUrl}; kept in ${storeCredentials({ baseUrl, token })}`)
}
