// ergon tokens revoke.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { TokenReply } from '#contract/tokens.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const token = JSON.parse(
    (await apiDelete(options, `/v1/tokens/${encodeURIComponent(id)}`)).text,
  ) as TokenReply
  if (options.json) return printJson(token)
  // The token of this command is honoured for some seconds more, until the answer has reached us.
  tell(token.status === 'revoked' ? `${id} is revoked` : `${id} ends at ${token.expires_at}`)
}
