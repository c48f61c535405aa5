// ergon admin voucher list.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, printJson, table } from '#cli/output.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const vouchers = await control(options, 'voucher.list', {})
  if (options.json) return printJson(vouchers)
  print(
    table(
      ['VOUCHER', 'MONEY', 'AMOUNT', 'KIND', 'NOTE', 'REDEEMED', 'BY'],
      vouchers.map((one) => [
        one.id,
        one.env === 'test' ? 'tUSD (test)' : 'USD',
        dollars(one.pusd),
        one.kind,
        one.note,
        one.redeemed_at ?? '',
        one.redeemed_by ?? '',
      ]),
    ),
  )
}
