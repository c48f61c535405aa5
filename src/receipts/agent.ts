// Receipts in the agent: five signers, the jobs cell that asks them to sign, and a new key for the log.
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { signerHandlers } from './control/signers.ts'
import type { BundlingSettings } from './tasks.ts'
import { JOBS_PROGRAM, SIGNER_PROGRAM, startSealing } from './sealing.ts'

export const RECEIPTS_AGENT: AgentProduct = {
  name: 'receipts',
  programs: [JOBS_PROGRAM, SIGNER_PROGRAM],
  open,
}

function open(core: AgentCore): AgentPart {
  return {
    control: signerHandlers({
      state: core.state,
      cells: core.cells,
      signersFolder: core.data.at('signers'),
    }),
    tasks: { settings: { bundleDays: core.config.bundleDays } satisfies BundlingSettings },
    start: (signal) => startSealing({ ...core, signal }),
    cells: [
      { stage: 'workers', name: 'jobs' },
      { stage: 'signers', name: 'signer-' },
    ],
  }
}
