// ergon admin voucher create.
import { textOption, type CommandCall } from '#cli/call.ts'
import { controlOnce } from '#cli/client.ts'
import { pusdOf } from '#cli/money.ts'
import { CommandError, EXIT, print, printJson } from '#cli/output.ts'
import { pointsOptions, wholeOption } from '#cli/points-options.ts'

export async function run({ options, words: [amount = ''] }: CommandCall): Promise<void> {
  const env = textOption(options, 'env')
  if (env !== undefined && env !== 'live' && env !== 'test')
    throw new CommandError(`--env is live or test, not: ${env}`, EXIT.usage)
  const made = await controlOnce(
    options,
    'voucher.create',
    {
      pusd: pusdOf(amount),
      env,
      count: wholeOption(options, 'count'),
      redeemable_days: wholeOption(options, 'redeemable'),
      note: textOption(options, 'note'),
      ...pointsOptions(options),
    },
    'ergon admin voucher list',
  )
  if (options.json) return printJson(made)
  for (const { code } of made) print(code)
}
