// ergon admin alarm acknowledge: this one and the earlier ones of its kind count no more; they are kept.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [alarm = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'alarm.acknowledge', { alarm })
  if (options.json) printJson(result)
  else tell(`${result.acknowledged} acknowledged of ${result.kind}, up to ${alarm}`)
}
