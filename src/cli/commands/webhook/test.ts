// ergon webhook test: ends with 1 unless the endpoint answered 2xx.
import { sleep } from '#base/clock.ts'
import type { CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { CommandError, print, printJson, tellWork } from '#cli/output.ts'
import { deliveriesOf, needed, outcomeOf, webhookPath, type DeliveryEntry } from '#cli/webhooks.ts'
import type { webhookDelivery } from '#contract/webhooks/webhooks.ts'

const EXAMPLE = '--endpoint we_… --event balance.low'
/** An attempt takes 15 s at most. */
const WAIT_MS = 20_000
const EVERY_MS = 250

export async function run({ options }: CommandCall): Promise<void> {
  const id = needed(options, 'endpoint', EXAMPLE)
  const event = needed(options, 'event', EXAMPLE)
  const sent = await apiPost(options, webhookPath(id, '/test'), { event })
  const { event_id: eventId } = replyOf<typeof webhookDelivery>(sent)
  tellWork('Waiting for the answer')
  const found = await attemptOf(options, id, eventId)
  if (options.json) printJson(found)
  else print(`${found.event_id}  ${outcomeOf(found)}`)
  if (found.status !== 'delivered')
    throw new CommandError(`The endpoint did not take it: ${found.error ?? 'it was not sent yet'}`)
}

/** The delivery once it was attempted, or as it is after the wait. */
async function attemptOf(
  options: CommandCall['options'],
  webhook: string,
  eventId: string,
): Promise<DeliveryEntry> {
  const lastMs = performance.now() + WAIT_MS
  for (;;) {
    const { data } = await deliveriesOf(options, { webhook, limit: '100' })
    const found = data.find(({ event_id: id }) => id === eventId)
    if (found === undefined) throw new CommandError('The test is not in the log any more')
    if (found.attempts > 0 || performance.now() > lastMs) return found
    await sleep(EVERY_MS)
  }
}
