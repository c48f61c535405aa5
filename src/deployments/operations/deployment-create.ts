// POST /v1/deployments: the plan of a description, or its application, which the process of tasks brings about.
import { newId } from '#base/ids.ts'
import { nj, type Nj } from '#base/units.ts'
import type { DeploymentPlan, DeploymentRequest } from '#contract/deployments/deployments.ts'
import {
  DEPLOYMENTS_KEPT,
  DEPLOYMENTS_RUNNING_MAX,
} from '#contract/deployments/deployment-limits.ts'
import { fault } from '#contract/errors.ts'
import { makePlan } from '#deployments/plan/make-plan.ts'
import type { StackPlan } from '#deployments/plan/plan.ts'
import { deploymentReplyOf, findDeployment, deploymentSteps, CHANGING } from '#deployments/rows.ts'
import { sealInput } from '#deployments/sealed-input.ts'
import { createAccountLoad } from '#http/account-load.ts'
import { once } from '#http/once.ts'
import { known, type OperationCall, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { StackParts } from '#resources/stack-part.ts'
import type { Queryable, State } from '#state/connect.ts'

/** All steps that evaluation may take were 0.3 s of CPU for the two readings of a plan; this is five times as much. */
const STEPS_NJ = 5_000_000_000n
/** A file of the greatest length took 2 µs of CPU for each character, 8 µJ; the ceiling is for a busy machine. */
const CHARACTER_NJ = 50_000n

type Deps = {
  readonly state: State
  readonly parts: StackParts
  readonly key: string
}

/** Plans of an account at once in this process: each holds up all else for as long as it reads its description. */
const PLANS_MAX = 2

export function createDeploymentCreate({ state, parts, key }: Deps): Handler<DeploymentRequest> {
  const plans = createAccountLoad(PLANS_MAX, 'plans')
  return async (call) => {
    const caller = callerOf(call)
    const { account } = caller
    const { stack, dry_run: isDry, allow_delete: allowsDeletion, plan: asked } = call.body
    const planned = async () => {
      const leave = plans.enter(account)
      try {
        await call.spend.admit(caller, 'deployment.create', ceilingOf(call.body))
        const deps = { state, parts, key, mark: () => call.spend.mark() }
        const plan = makePlan(deps, { account, stack }, { input: call.body, allowsDeletion })
        // A reading is one piece of CPU, within which no hold grows: the rest is asked for here.
        return await plan.finally(() => call.spend.finish())
      } finally {
        leave()
      }
    }
    if (isDry) return known(planReplyOf(stack, await planned()))
    const reply = await once(call, state, async () => {
      await assertNoneRuns(state, account, stack)
      // The plan is made outside of a transaction: a plan takes no connection of its own while it is made.
      const plan = await planned()
      if (asked !== undefined && asked !== plan.hash)
        throw fault('plan_changed', `Could not apply the plan of "${stack}": it is another by now`)
      return async (transaction) => {
        const id = await addDeployment(transaction, call, { plan, key })
        const row = await findDeployment(transaction, account, id)
        return deploymentReplyOf(row, await deploymentSteps(transaction, id))
      }
    })
    return known(reply, 201)
  }
}

/** The most that a plan may be billed: evaluation has its limit, and all else follows the length of the texts. */
function ceilingOf({ description, variables }: DeploymentRequest): Nj {
  const texts = [description, ...Object.values(variables)]
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  return nj(STEPS_NJ + BigInt(characters) * CHARACTER_NJ)
}

async function addDeployment(
  transaction: Queryable,
  call: OperationCall & { readonly body: DeploymentRequest },
  { plan, key }: { readonly plan: StackPlan; readonly key: string },
): Promise<string> {
  const { account, token } = callerOf(call)
  const { stack, file, description, variables, files, allow_delete: allowsDeletion } = call.body
  const id = newId('dep')
  const { rows } = await transaction.query<{ id: string | null }>(
    'select add_deployment($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) as id',
    [
      id,
      account,
      stack,
      file,
      token,
      call.spend.requestId,
      plan.hash,
      allowsDeletion,
      sealInput({ description, file, variables, files }, key, id),
      JSON.stringify(plan.steps),
      DEPLOYMENTS_KEPT,
    ],
  )
  if (rows[0]?.id !== id) await assertNoneRuns(transaction, account, stack)
  await assertFew(transaction, account)
  const changes = plan.steps.filter(({ action }) => CHANGING.has(action))
  const steps = Object.fromEntries(changes.map(({ address, action }) => [address, action]))
  const details = { stack, steps, allow_delete: allowsDeletion }
  await recordAct(transaction, call, { action: 'deployment.create', target: id, details })
  return id
}

/** With the one that was just added. Throws too_many_deployments. */
async function assertFew(transaction: Queryable, account: string): Promise<void> {
  const { rows } = await transaction.query<{ running: number }>(
    "select count(*)::int as running from deployments where account = $1 and status = 'running'",
    [account],
  )
  if ((rows[0]?.running ?? 0) > DEPLOYMENTS_RUNNING_MAX)
    throw fault(
      'too_many_deployments',
      `Could not deploy: ${DEPLOYMENTS_RUNNING_MAX} deployments of the account run`,
    )
}

/** Throws deployment_running. */
async function assertNoneRuns(state: Queryable, account: string, stack: string): Promise<void> {
  const { rows } = await state.query<{ id: string }>(
    "select id from deployments where account = $1 and stack = $2 and status = 'running'",
    [account, stack],
  )
  const [running] = rows
  if (running !== undefined)
    throw fault('deployment_running', `Could not deploy "${stack}": ${running.id} runs`, {
      details: { deployment: running.id },
    })
}

const planReplyOf = (stack: string, { hash, steps }: StackPlan): DeploymentPlan => ({
  object: 'deployment.plan',
  stack,
  plan: hash,
  changes: steps.filter(({ action }) => CHANGING.has(action)).length,
  steps: steps.map((planned) => {
    const { needs: _, resource: __, ...step } = planned
    return step
  }),
})
