// ergon admin grant.
import type { CommandCall } from '#cli/call.ts'
import { controlOnce } from '#cli/client.ts'
import { pusdOf } from '#cli/money.ts'
import { printJson, tell } from '#cli/output.ts'
import { pointsOptions } from '#cli/points-options.ts'

export async function run({
  options,
  words: [account = '', amount = ''],
}: CommandCall): Promise<void> {
  const asked = { account, pusd: pusdOf(amount), ...pointsOptions(options) }
  const made = await controlOnce(options, 'grant.create', asked, 'ergon admin account list')
  if (options.json) return printJson(made)
  tell(`${amount} in points for ${account} (${made.id})`)
}
