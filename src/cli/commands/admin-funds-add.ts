// ergon admin funds add: test money for a test account; live money comes in by payments alone.
import { control } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { PUSD_PER_USD } from '#base/units.ts'
import type { CommandCall } from '#cli/call.ts'

const AMOUNT = /^(\d{1,9})(?:\.(\d{1,12}))?$/

export async function run({
  options,
  words: [account = '', amount = ''],
}: CommandCall): Promise<void> {
  const parts = AMOUNT.exec(amount)
  if (parts === null)
    throw new CommandError(`Not an amount: "${amount}"`, EXIT.usage, 'for example 5 or 0.25')
  const pusd = BigInt(parts[1] ?? 0) * PUSD_PER_USD + BigInt((parts[2] ?? '').padEnd(12, '0'))
  const result = await control(options, 'funds.add', { account, pusd: pusd.toString() })
  if (options.json) printJson(result)
  else tell(`added ${amount} tUSD to ${account} (test money: no funds move)`)
}
