// Accounts in the agent: the operator's operations on accounts, funds and tokens.
import type { AgentProduct } from '#node/agent-part.ts'
import { SIGNERS_HERE } from '#receipts/sealing.ts'
import { accountHandlers } from './control/accounts.ts'

export const ACCOUNTS_AGENT: AgentProduct = {
  name: 'accounts',
  open: ({ config, state, keyPairOf }) => ({
    gateway: { settings: { signers: SIGNERS_HERE, deletionDays: config.deletionDays } },
    control: accountHandlers(state, keyPairOf),
  }),
}
