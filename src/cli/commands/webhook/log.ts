// ergon webhook log.
import { textOption, type CommandCall } from '#cli/call.ts'
import { durationMs } from '#cli/duration.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import { deliveriesOf, outcomeOf } from '#cli/webhooks.ts'

const SHOWN = '1000'

export async function run({ options }: CommandCall): Promise<void> {
  const agoMs = durationMs(textOption(options, 'since') ?? '24h', '--since 24h')
  const webhook = textOption(options, 'endpoint')
  const status = textOption(options, 'status')
  const list = await deliveriesOf(options, {
    since: new Date(Date.now() - agoMs).toISOString(),
    limit: SHOWN,
    ...(webhook !== undefined && { webhook }),
    ...(status !== undefined && { status }),
  })
  if (options.json) return printJson(list)
  const rows = list.data.map((one) => [
    one.created_at.slice(0, 19),
    one.webhook,
    one.test ? `${one.event} (test)` : one.event,
    one.event_id,
    String(one.attempts),
    outcomeOf(one),
  ])
  print(table(['TIME (UTC)', 'ENDPOINT', 'EVENT', 'EVENT ID', 'ATTEMPTS', 'OUTCOME'], rows))
  if (list.next_cursor !== null) tell(`the newest ${SHOWN}`)
}
