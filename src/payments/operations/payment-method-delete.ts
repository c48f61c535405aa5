// DELETE /v1/payment-methods/{method}: removes a card.
import { fault } from '#contract/errors.ts'
import type { Handler } from '#http/reply.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { removeMethod, type RemovedRow } from '#payments/removed-methods.ts'
import type { State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

type Deps = { readonly state: State; readonly adapters: readonly PaymentAdapter[] }

export function createMethodDelete({ state, adapters }: Deps): Handler {
  return async (call) => {
    const { caller, parameters } = call
    const id = parameters['method'] ?? ''
    const { rows } = await state.query<RemovedRow>(
      "select id, processor, reference, page from payment_methods where account = $1 and id = $2 and state <> 'removed'",
      [callerOf({ caller }).account, id],
    )
    const [row] = rows
    // Another call may have removed it since.
    if (row === undefined || !(await removeMethod({ state, adapters }, call, row)))
      throw notFound(id)
    const reply = { id, object: 'payment_method', deleted: true }
    return { kind: 'known', status: 200, body: () => reply }
  }
}

const notFound = (id: string) =>
  fault('payment_method_not_found', `Could not remove the card: "${id.slice(0, 60)}"`)
