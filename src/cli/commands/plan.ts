// ergon plan: what a deployment of the description file would change.
import type { CommandCall } from '#cli/call.ts'
import { planOf, planText, wantedOf } from '#cli/deployments.ts'
import { print, printJson } from '#cli/output.ts'

/** As `terraform plan -detailed-exitcode`. */
const EXIT_CHANGES = 2

export async function run(call: CommandCall): Promise<void> {
  const { options } = call
  const plan = await planOf(options, await wantedOf(call))
  if (options.json) printJson(plan)
  else print(planText(plan))
  if (options['detailedExitcode'] === true && plan.changes > 0) process.exitCode = EXIT_CHANGES
}
