// ergon budget: the energy budget of a workload.
import type { CommandCall } from '#cli/call.ts'
import { apiPatch, replyOf } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import { workloadPath } from '#cli/workloads.ts'
import type { workloadReply } from '#contract/workloads/workload-replies.ts'

export async function run({
  options,
  words: [name = '', energy = ''],
}: CommandCall): Promise<void> {
  const budget = energy === 'none' ? null : energy
  const answer = await apiPatch(options, workloadPath(name), { energy_budget: budget })
  if (options.json) return printJson(replyOf<typeof workloadReply>(answer))
  tell(budget === null ? `${name} has no energy budget` : `${name} may use ${energy}`)
}
