// The toy in a gateway: an endpoint, a protocol of its own, a figure.
import { parseCountRequest } from '#contract/toy.ts'
import type { Door } from '#http/door.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { renderProblem } from '#http/problem.ts'
import type { Handler } from '#http/reply.ts'

type Settings = { readonly greeting: string }

export const TOY_GATEWAY: GatewayProduct<Settings> = { name: 'toy', open }

const ping: Door = {
  match: () => ({
    operation: 'toy.ping',
    endpoint: {
      handle: () => ({ kind: 'known', status: 200, contentType: 'text/plain', body: () => 'pong' }),
    },
    parameters: {},
  }),
  identify: () => undefined,
  body: async () => undefined,
  render: renderProblem,
}

function open({ readers }: GatewayCore, { greeting }: Settings): GatewayPart {
  let counted = 0
  const count: Handler<{ readonly by: number }> = async ({ who, body }) => {
    const { rows } = await readers.query<{ count: string }>('select toy_count($1, $2) as count', [
      who?.account,
      body.by,
    ])
    counted++
    const reply = { greeting, count: Number(rows[0]?.count) }
    return { kind: 'known', status: 200, body: () => reply }
  }
  return {
    endpoints: { 'toy.count': { parse: parseCountRequest, handle: count } },
    protocols: [{ door: ping, segments: ['toy-ping'] }],
    figures: [{ name: 'toy_counted', help: 'Times the toy counted', read: () => counted }],
  }
}
