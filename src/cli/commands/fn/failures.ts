// ergon fn failures: the runs that failed for good, and those that failed and are tried again.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { functionPath } from '#cli/functions.ts'
import { print, printJson, tell } from '#cli/output.ts'
import type { ReplyOf } from '#contract/reply-of.ts'
import type { functionFailures } from '#contract/functions/functions.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const { text } = await apiGet(options, `${functionPath(name)}/failures`)
  const failures = replyOf<typeof functionFailures>({ text })
  if (options.json) return printJson(failures)
  const { data, waiting } = failures
  for (const run of data) print(lineOf(run))
  for (const run of waiting) print(`${lineOf(run)}, again at ${run.next_at}`)
  if (data.length + waiting.length === 0) tell('nothing failed')
}

function lineOf(run: ReplyOf<typeof functionFailures>['data'][number]): string {
  const { id, event, data, error, request_id: request, attempted_at: at } = run
  const subject = data['scheduled_at'] ?? `${data['bucket']}/${data['key']}`
  return `${id} ${at ?? '-'} ${event} ${subject}: ${error ?? '-'} (${request ?? '-'})`
}
