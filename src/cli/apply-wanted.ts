// A plan that is shown, confirmed and applied.
import type { deploymentList, DeploymentReply } from '#contract/deployments/deployments.ts'
import { answerTo, isPersonThere } from './ask-person.ts'
import type { CommandCall } from './call.ts'
import { apiGet, replyOf } from './client.ts'
import { planOf, planText, startDeployment, type WantedStack } from './deployments.ts'
import { addressLines, assertDone, followDeployment } from './follow-deployment.ts'
import { CommandError, EXIT, print, printJson, tell } from './output.ts'
import { showJoules } from './show-joules.ts'

const EXIT_CHANGES = 2

/** Throws a CommandError where it is not confirmed, refused, or fails. */
export async function applyWanted(
  options: CommandCall['options'],
  wanted: WantedStack,
  command: 'deploy' | 'destroy',
): Promise<void> {
  const plan = await planOf(options, wanted)
  if (command === 'destroy' && plan.steps.length === 0) await demandStack(options, wanted.stack)
  tell(planText(plan))
  if (plan.changes > 0) await confirm(options)
  const begun = await startDeployment(options, wanted, plan.plan)
  const ended = await followDeployment(options, begun)
  if (options.json) printJson(ended)
  assertDone(ended)
  if (options['detailedExitcode'] === true && plan.changes > 0) process.exitCode = EXIT_CHANGES
  if (options.json) return
  for (const line of addressLines(ended)) print(line)
  if (command === 'deploy') await showJoules(options, idsOf(ended))
}

const idsOf = ({ steps }: DeploymentReply): ReadonlySet<string> =>
  new Set(steps.flatMap(({ resource }) => resource ?? []))

/** Throws a CommandError of a stack that was never deployed: a deployment of nothing would give it a row. */
async function demandStack(options: CommandCall['options'], stack: string): Promise<void> {
  const path = `/v1/deployments?limit=1&stack=${encodeURIComponent(stack)}`
  const { data } = replyOf<typeof deploymentList>(await apiGet(options, path))
  if (data.length === 0)
    throw new CommandError(
      `There is no stack ${stack}`,
      EXIT.failed,
      'ergon deployments list',
      'not_found',
    )
}

async function confirm(options: CommandCall['options']): Promise<void> {
  if (options['yes'] === true) return
  if (!isPersonThere(options))
    throw new CommandError('The plan is not confirmed', EXIT.usage, 'the same command with --yes')
  if (!/^y(es)?$/i.test(await answerTo('Apply the plan? [y/N] ')))
    throw new CommandError('Nothing was changed: the plan is not confirmed', EXIT.failed)
}
