// ergon deployments cancel: ends a running deployment where it is.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { deploymentPath, outcomeText } from '#cli/follow-deployment.ts'
import { print, tell } from '#cli/output.ts'
import type { deploymentReply } from '#contract/deployments/deployments.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const answer = await apiDelete(options, deploymentPath(id))
  if (options.json) return print(answer.text)
  tell(`cancelled ${id}: what is done stays`)
  tell(outcomeText(replyOf<typeof deploymentReply>(answer)))
}
