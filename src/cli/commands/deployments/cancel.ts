// ergon deployments cancel: ends a running deployment where it is.
import type { DeploymentReply } from '#contract/deployments.ts'
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { deploymentPath, outcomeText } from '#cli/follow-deployment.ts'
import { print, tell } from '#cli/output.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, deploymentPath(id))
  if (options.json) return print(text)
  const ended = JSON.parse(text) as DeploymentReply
  tell(`cancelled ${id}: what is done stays`)
  tell(outcomeText(ended))
}
