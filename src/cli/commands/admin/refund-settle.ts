// ergon admin refund settle: the tokens were sent back.
import { textOption, type CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({
  options,
  words: [refund = '', transaction = ''],
}: CommandCall): Promise<void> {
  const from = textOption(options, 'from')
  const done = await control(options, 'refund.settle', {
    refund,
    transaction,
    ...(from === undefined ? {} : { from }),
  })
  if (options.json) return printJson(done)
  tell(`settled ${refund}`)
}
