// The toy in a gateway: an endpoint, a protocol of its own whose callers have an energy budget, a figure.
import { fault } from '#contract/errors.ts'
import { parseCountRequest } from '#contract/toy.ts'
import { recordsOf } from '#http/account-records.ts'
import type { ProtocolHandler } from '#http/protocol-handler.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { renderProblem } from '#http/problem.ts'
import type { Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import { budgetOf } from './budget.ts'

const COUNTS_OF = `select account as place, count::text from toy_counts
  where account = $1 and account > $2 limit $3`

type Settings = { readonly greeting: string }

export const TOY_GATEWAY: GatewayProduct<Settings> = { name: 'toy', open }

function open({ readers, identity }: GatewayCore, { greeting }: Settings): GatewayPart {
  let counted = 0
  const count: Handler<{ readonly by: number }> = async ({ caller, body }) => {
    const { rows } = await readers.query<{ count: string | null }>(
      'select toy_count($1, $2) as count',
      [callerOf({ caller }).account, body.by],
    )
    const total = rows[0]?.count ?? null
    if (total === null) throw fault('toy_full', `Could not count: by ${body.by}`)
    counted++
    const reply = { greeting, count: Number(total) }
    return { kind: 'known', status: 200, body: () => reply }
  }
  return {
    endpoints: { 'toy.count': { parse: parseCountRequest, handle: count } },
    account: { records: { toy: recordsOf(readers, COUNTS_OF) } },
    protocols: [{ handler: pingOf(identity), segments: ['toy-ping'] }],
    figures: [{ name: 'toy_counted', help: 'Times the toy counted', read: () => counted }],
  }
}

const pingOf = (identity: GatewayCore['identity']): ProtocolHandler => ({
  match: () => ({
    operation: 'toy.ping',
    endpoint: {
      handle: () => ({ kind: 'known', status: 200, contentType: 'text/plain', body: () => 'pong' }),
    },
    parameters: {},
  }),
  async identify(exchange) {
    const caller = await identity.identify(exchange.header('authorization'))
    return { ...caller, budgets: [...(caller.budgets ?? []), budgetOf(caller.account)] }
  },
  body: async () => undefined,
  render: renderProblem,
})
