// Payments in the agent: the operator's operations.
import type { AgentProduct } from '#node/agent-part.ts'
import { voucherHandlers } from './control/vouchers.ts'

export const PAYMENTS_AGENT: AgentProduct = {
  name: 'payments',
  open: ({ state, data }) => ({ control: voucherHandlers(state, data.secrets.state) }),
}
