// ergon deploy: shows the plan of the description file, asks, applies it, and then what it uses.
import type { CommandCall } from '#cli/call.ts'
import { applyWanted } from '#cli/apply-wanted.ts'
import { wantedOf } from '#cli/deployments.ts'

export const run = async (call: CommandCall): Promise<void> =>
  applyWanted(call.options, await wantedOf(call), 'deploy')
