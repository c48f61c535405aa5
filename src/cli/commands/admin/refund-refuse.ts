// ergon admin refund refuse: its money is balance again.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [refund = ''] }: CommandCall): Promise<void> {
  const done = await control(options, 'refund.refuse', { refund })
  if (options.json) return printJson(done)
  tell(`refused ${refund}: its money is balance again`)
}
