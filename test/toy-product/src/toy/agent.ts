// The toy in the agent: its setting for the gateway, and an operation of the operator.
import type { TOY_CONTROL } from '#contract/control/toy.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { AgentProduct } from '#node/agent-part.ts'

export const TOY_AGENT: AgentProduct = {
  name: 'toy',
  open: ({ config, state }) => ({
    gateway: { settings: { greeting: config.toyGreeting } },
    control: {
      'toy.list': async ({ least }) => {
        const { rows } = await state.query<{ account: string; count: string }>(
          'select account, count from toy_counts where count >= $1',
          [least],
        )
        return rows
      },
    } satisfies ControlHandlers<typeof TOY_CONTROL>,
  }),
}
