// ergon admin token list.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const tokens = await control(options, 'token.list', {})
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
