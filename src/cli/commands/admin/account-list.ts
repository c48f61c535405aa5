// ergon admin account list.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import { printUsd, pusd } from '#base/units.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const accounts = await control(options, 'account.list', {})
  if (options.json) return printJson(accounts)
  print(
    table(
      ['ACCOUNT', 'MONEY', 'BALANCE', 'PAYS WITH', 'STATUS'],
      accounts.map((one) => [
        one.id,
        one.env === 'test' ? 'tUSD (test)' : 'USD',
        printUsd(pusd(BigInt(one.balance_pusd))),
        one.funded ? 'balance' : 'free tier',
        one.status,
      ]),
    ),
  )
}
