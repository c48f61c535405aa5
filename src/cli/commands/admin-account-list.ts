// ergon admin account list.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import { printUsd, pusd } from '#base/units.ts'
import type { CommandCall } from '#cli/call.ts'

type Account = {
  id: string
  env: string
  funded: boolean
  balance_pusd: string
  reserved_pusd: string
}

export async function run({ options }: CommandCall): Promise<void> {
  const accounts = (await control(options, { method: 'GET', path: '/accounts' })) as Account[]
  if (options.json) return printJson(accounts)
  print(
    table(
      ['ACCOUNT', 'MONEY', 'BALANCE', 'PAYS WITH'],
      accounts.map((one) => [
        one.id,
        one.env === 'test' ? 'tUSD (test)' : 'USD',
        printUsd(pusd(BigInt(one.balance_pusd))),
        one.funded ? 'balance' : 'free tier',
      ]),
    ),
  )
}
