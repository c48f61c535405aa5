// Rows of deployments and their steps, and as the API shows them.
import type { DeploymentReply } from '#contract/deployments/deployments.ts'
import { fault } from '#contract/errors.ts'
import type { ResourceTypeName } from '#stack/resource-types.ts'
import type { Queryable } from '#state/connect.ts'

export type DeploymentRow = {
  readonly id: string
  readonly account: string
  readonly stack: string
  readonly file: string
  readonly token: string
  readonly request: string
  readonly status: DeploymentReply['status']
  readonly plan: string
  readonly allows_deletion: boolean
  readonly sealed_input: string | null
  readonly outputs: DeploymentReply['outputs']
  readonly changes: number
  readonly created_at: Date
  readonly ended_at: Date | null
}

export type StepRow = Omit<DeploymentReply['steps'][number], 'kind' | 'started_at' | 'ended_at'> & {
  readonly place: number
  readonly kind: ResourceTypeName
  readonly needs: string[]
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

/** Steps that change something. */
export const CHANGING: ReadonlySet<string> = new Set(['adopt', 'create', 'update', 'delete'])

const COLUMNS = `d.id, d.account, d.stack, d.file, d.token, d.request, d.status, d.plan, d.allows_deletion, d.sealed_input, d.outputs, d.created_at,
  d.ended_at, (select count(*)::int from deployment_steps s where s.deployment = d.id and s.action = any ($1)) as changes`

/** `condition` is ours; its values begin at $2. */
export async function deploymentsWhere(
  state: Queryable,
  condition: string,
  values: readonly unknown[],
): Promise<DeploymentRow[]> {
  const { rows } = await state.query<DeploymentRow>(
    `select ${COLUMNS} from deployments d where ${condition}`,
    [[...CHANGING], ...values],
  )
  return rows
}

/** Throws deployment_not_found. */
export async function findDeployment(
  state: Queryable,
  account: string,
  id: string,
): Promise<DeploymentRow> {
  const [row] = await deploymentsWhere(state, 'd.account = $2 and d.id = $3', [account, id])
  if (row !== undefined) return row
  throw fault('deployment_not_found', `Could not find the deployment: "${id.slice(0, 100)}"`)
}

export async function deploymentSteps(state: Queryable, deployment: string): Promise<StepRow[]> {
  const { rows } = await state.query<StepRow>(
    `select place, address, kind, name, action, line, "column", changes, notes, needs, status, resource, outputs, fault,
       started_at, ended_at
     from deployment_steps where deployment = $1 order by place`,
    [deployment],
  )
  return rows
}

export const deploymentSummaryOf = (row: DeploymentRow) => ({
  id: row.id,
  object: 'deployment' as const,
  stack: row.stack,
  file: row.file,
  plan: row.plan,
  status: row.status,
  changes: row.changes,
  created_at: row.created_at.toISOString(),
  ended_at: timeText(row.ended_at),
})

const timeText = (time: Date | null): string | null => time?.toISOString() ?? null

export const deploymentReplyOf = (
  row: DeploymentRow,
  steps: readonly StepRow[],
): DeploymentReply => ({
  ...deploymentSummaryOf(row),
  steps: steps.map((row) => {
    const { place: _, needs: __, ...step } = row
    const [started_at, ended_at] = [timeText(step.started_at), timeText(step.ended_at)]
    return { ...step, started_at, ended_at }
  }),
  outputs: row.outputs,
})
