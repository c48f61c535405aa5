// ergon admin refund list.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, printJson, table } from '#cli/output.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const refunds = await control(options, 'refund.list', {})
  if (options.json) return printJson(refunds)
  print(
    table(
      ['REFUND', 'PAYMENT', 'AMOUNT', 'NETWORK', 'TOKEN', 'UNITS', 'TO', 'FINAL'],
      refunds.map((one) => [
        one.id,
        one.payment,
        dollars(one.pusd),
        one.network,
        one.token,
        one.units,
        one.receiver,
        one.final ? 'yes' : 'not yet',
      ]),
    ),
  )
}
