// ergon account: the marks of the account, and their change.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, apiPatch, replyOf } from '#cli/client.ts'
import { deletionWords } from '#cli/deletion-words.ts'
import { dollars } from '#cli/money.ts'
import { CommandError, EXIT, print, printJson } from '#cli/output.ts'
import type { accountReply } from '#contract/payments/payments.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const change = changeOf(options)
  const { text } =
    change === undefined
      ? await apiGet(options, '/v1/account')
      : await apiPatch(options, '/v1/account', change)
  const account = replyOf<typeof accountReply>({ text })
  if (options.json) return printJson(account)
  const { unit, auto_topup: automatic } = account
  print(`account    ${account.id} (${account.env}, ${unit})`)
  const { member } = account
  print(`you are    ${member.name}, ${member.role} (${member.id})`)
  if (account.deletes_at !== null)
    print(`deletion   ${deletionWords(account.deletes_at, Date.now())}`)
  print(`pays with  ${account.funded ? 'balance' : 'free tier'}`)
  print(`low water  ${dollars(account.low_water_pusd)} ${unit}`)
  if (automatic === null) return print('automatic  no top-ups')
  const { amount_pusd: amount, below_pusd: below, month_max_pusd: most } = automatic
  print(`automatic  ${dollars(amount)} ${unit} when it is below ${dollars(below)}`)
  print(`           ${dollars(automatic.month_pusd)} of ${dollars(most)} this month`)
  if (automatic.stopped) print('           stopped after three declines: set it again')
}

function changeOf(options: CommandCall['options']): object | undefined {
  const lowWater = textOption(options, 'lowWater')
  const amount = textOption(options, 'auto')
  const below = textOption(options, 'below')
  const most = textOption(options, 'monthMax')
  if (amount !== 'off' && new Set([amount, below, most].map((one) => one === undefined)).size > 1)
    throw new CommandError(
      '--auto, --below and --month-max need each other',
      EXIT.usage,
      'ergon account --auto 20 --below 5 --month-max 100',
    )
  const automatic =
    amount === undefined
      ? {}
      : { auto_topup: amount === 'off' ? null : { amount, below, month_max: most } }
  const change = { ...(lowWater === undefined ? {} : { low_water: lowWater }), ...automatic }
  return Object.keys(change).length === 0 ? undefined : change
}
