// The toy in the agent: its setting for the gateway, and an operation of the operator.
import type { AgentProduct } from '#node/agent-part.ts'

export const TOY_AGENT: AgentProduct = {
  name: 'toy',
  open: ({ config, state }) => ({
    gateway: { settings: { greeting: config.toyGreeting } },
    control: [
      {
        method: 'GET',
        path: /^\/toy\/counts$/,
        handle: async () => (await state.query('select account, count from toy_counts')).rows,
      },
    ],
  }),
}
