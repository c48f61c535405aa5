// ergon destroy: removes all that the stack has.
import { applyWanted } from '#cli/apply-wanted.ts'
import type { CommandCall } from '#cli/call.ts'
import { nothingWanted } from '#cli/deployments.ts'

export const run = (call: CommandCall): Promise<void> =>
  applyWanted(call.options, nothingWanted(call), 'destroy')
