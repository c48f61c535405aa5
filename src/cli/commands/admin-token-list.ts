// ergon admin token list.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

type Token = {
  id: string
  account: string
  hint: string
  name: string
  scope: string
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
  exposed_at: string | null
}

export async function run({ options }: CommandCall): Promise<void> {
  const tokens = (await control(options, { method: 'GET', path: '/tokens' })) as Token[]
  if (options.json) return printJson(tokens)
  print(
    table(
      ['TOKEN', 'BEGINS', 'SCOPE', 'ACCOUNT', 'NAME', 'STATE', 'LAST USED', 'SEEN IN AN ADDRESS'],
      tokens.map((one) => [
        one.id,
        `${one.hint}…`,
        one.scope,
        one.account,
        one.name,
        one.revoked_at === null
          ? one.expires_at === null
            ? 'valid'
            : `until ${one.expires_at}`
          : 'revoked',
        one.last_used_at ?? 'never',
        one.exposed_at ?? 'no',
      ]),
    ),
  )
}
