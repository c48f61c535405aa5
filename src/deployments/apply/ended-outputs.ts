// The outputs of a description, when all that it has is there.
import type { DeploymentReply } from '#contract/deployments/deployments.ts'
import { isPending } from '#resources/stack-part.ts'
import { readDescribed } from './read-described.ts'
import type { DeploymentTurn } from './turn.ts'

/** An output that is made of sensitive values has no value. */
export async function endedOutputs(turn: DeploymentTurn): Promise<DeploymentReply['outputs']> {
  const { described } = await readDescribed(turn, new Set(turn.steps.map(({ address }) => address)))
  return described.shown.outputs.map(({ name, description, value }) => {
    const sensitive = hasPending(value)
    return { name, description, value: sensitive ? null : value, sensitive }
  })
}

function hasPending(value: unknown): boolean {
  if (isPending(value)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasPending)
}
