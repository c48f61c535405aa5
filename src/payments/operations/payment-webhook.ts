// POST /v1/payment-webhooks/{processor}: what a processor tells. The signature is of the bytes, so the bytes are read.
import { fault } from '#contract/errors.ts'
import type { Handler } from '#http/reply.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { applyFacts } from '#payments/start-payment.ts'
import type { Queryable } from '#state/connect.ts'

/** Larger than any event of the processor. */
export const WEBHOOK_BYTES_MAX = 262_144

export function createPaymentWebhook(deps: {
  readonly state: Queryable
  readonly adapters: readonly PaymentAdapter[]
}): Handler<Uint8Array> {
  return async ({ parameters, body, headers }) => {
    const name = parameters['processor'] ?? ''
    const adapter = deps.adapters.find((one) => one.name === name)
    if (adapter === undefined)
      throw fault('not_found', `Could not find the processor: "${name.slice(0, 60)}"`)
    const facts = await adapter.parseWebhook(body, headers)
    const outcomes = await applyFacts(deps.state, name, facts)
    return { kind: 'known', status: 200, body: () => ({ outcomes }) }
  }
}
