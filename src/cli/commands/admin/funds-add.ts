// ergon admin funds add: test money for a test account; live money comes in by payments alone.
import { controlOnce } from '#cli/client.ts'
import { pusdOf } from '#cli/money.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({
  options,
  words: [account = '', amount = ''],
}: CommandCall): Promise<void> {
  const result = await controlOnce(
    options,
    'funds.add',
    { account, pusd: pusdOf(amount) },
    'ergon admin account list',
  )
  if (options.json) printJson(result)
  else tell(`added ${amount} tUSD to ${account} (test money: no funds move)`)
}
