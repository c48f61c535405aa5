// ergon fn failures: the runs that failed for good.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { functionPath } from '#cli/functions.ts'
import { print, printJson, tell } from '#cli/output.ts'
import type { functionFailures } from '#contract/functions/functions.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const { text } = await apiGet(options, `${functionPath(name)}/failures`)
  const failures = replyOf<typeof functionFailures>({ text })
  if (options.json) return printJson(failures)
  for (const { id, event, data, error, request_id: request, attempted_at: at } of failures.data) {
    const subject = data['scheduled_at'] ?? `${data['bucket']}/${data['key']}`
    print(`${id} ${at ?? '-'} ${event} ${subject}: ${error ?? '-'} (${request ?? '-'})`)
  }
  if (failures.data.length === 0) tell('nothing failed')
}
