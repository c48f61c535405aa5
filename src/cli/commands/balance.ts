// ergon balance.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { balanceReply } from '#contract/payments/payments.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const balance = replyOf<typeof balanceReply>(await apiGet(options, '/v1/balance'))
  if (options.json) return printJson(balance)
  const { unit } = balance
  print(
    `balance    ${dollars(balance.balance_pusd)} ${unit}${unit === 'tUSD' ? ' (test money)' : ''}`,
  )
  print(`available  ${dollars(balance.available_pusd)} ${unit}`)
  print(
    `kept       ${dollars(balance.retention_pusd)} for stored bytes, ${dollars(balance.grace_pusd)} for what runs`,
  )
  if (balance.depleted_since !== null) print(`used up    since ${balance.depleted_since}`)
  print(`low water  ${dollars(balance.low_water_pusd)} ${unit}`)
  if (!balance.funded) print('No funds were ever on file: the free tier pays.')
  if (balance.lots.length === 0) return
  print(
    table(
      ['KIND', 'REMAINING', 'EXPIRES', 'FROM'],
      balance.lots.map((lot) => [
        lot.kind,
        dollars(lot.remaining_pusd),
        lot.expires_at ?? '',
        lot.reference ?? '',
      ]),
    ),
  )
}
