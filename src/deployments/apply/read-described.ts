// The description of a running deployment with the outputs that are known by now.
import { present } from '#base/errors.ts'
import { readStack, type DeploymentInput, type Described } from '#deployments/described.ts'
import { publicOutputs } from '#deployments/outputs.ts'
import { stackPartOf } from '#deployments/parts.ts'
import type { StepRow } from '#deployments/rows.ts'
import { openInput } from '#deployments/sealed-input.ts'
import type { FoundResource } from '#resources/stack-part.ts'
import type { DeploymentTurn } from './turn.ts'

export type ReadDescribed = { readonly input: DeploymentInput; readonly described: Described }

/** Reads a description with the outputs of these addresses. Throws description_invalid. */
export async function readDescribed(
  turn: DeploymentTurn,
  needed: ReadonlySet<string>,
): Promise<ReadDescribed> {
  const { id, sealed_input: sealed } = turn.deployment
  const input = openInput(present(sealed, 'a running deployment has its input'), turn.key, id)
  const revealed = new Map<string, ReadonlyMap<string, string>>()
  const shown = new Map<string, ReadonlyMap<string, string>>()
  for (const step of turn.steps) {
    if (!needed.has(step.address) || step.resource === null) continue
    const { outputs = {} } = (await findStep(turn, step)) ?? {}
    const visible = publicOutputs(outputs, stackPartOf(turn.parts, step.kind))
    revealed.set(step.address, new Map(Object.entries(outputs)))
    shown.set(step.address, new Map(Object.entries(visible)))
  }
  return { input, described: readStack(input, { revealed, shown }) }
}

/** The resource of a step, as it is now. */
export const findStep = (
  { state, parts, deployment: { account } }: DeploymentTurn,
  { kind, name, resource }: StepRow,
): Promise<FoundResource | undefined> =>
  stackPartOf(parts, kind).find(state, {
    account,
    name,
    id: resource ?? undefined,
    spec: undefined,
  })
