// ergon deployments show: a deployment with its steps, and with --watch until its end.
import type { CommandCall } from '#cli/call.ts'
import { planText } from '#cli/deployments.ts'
import {
  addressLines,
  assertDone,
  followDeployment,
  getDeployment,
} from '#cli/follow-deployment.ts'
import { print, printJson } from '#cli/output.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const seen = await getDeployment(options, id)
  if (options['watch'] === true) {
    const ended = await followDeployment(options, seen)
    if (options.json) printJson(ended)
    else for (const line of addressLines(ended)) print(line)
    return assertDone(ended)
  }
  if (options.json) return printJson(seen)
  print(`${seen.id} is ${seen.status}, since ${seen.created_at}`)
  print(planText(seen))
  for (const { address, action, status, fault } of seen.steps)
    if (action !== 'none' && action !== 'keep')
      print(`  ${address}: ${status}${fault === null ? '' : `: ${fault.message}`}`)
  for (const line of addressLines(seen)) print(line)
}
