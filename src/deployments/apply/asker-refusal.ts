// Checks that the token that asked for a deployment may still do so: each step is a change by that token. A member who loses a role
// loses its tokens.
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { StepRow } from '#deployments/rows.ts'
import type { DeploymentTurn } from './turn.ts'

/** Why the step may not begin, or go on; undefined where it may. A session of the portal that is idle has not ended. */
export async function askerRefusal(
  { state, deployment: { token } }: Pick<DeploymentTurn, 'state' | 'deployment'>,
  { status }: Pick<StepRow, 'status'>,
): Promise<ErgonError | undefined> {
  const { rowCount } = await state.query(
    `select from tokens where id = $1 and revoked_at is null
       and (is_session or coalesce(expires_at > now(), true))`,
    [token],
  )
  if (rowCount > 0) return undefined
  const why = 'the token that asked for the deployment was revoked, or has expired'
  const what =
    status === 'running'
      ? 'Could not go on with the step, whose change has begun and is partly made'
      : 'Could not begin the step'
  return fault('token_revoked', `${what}: ${why}`)
}
