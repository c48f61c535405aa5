// GET /v1/operator/node: the facts of the node as the agent wrote them.
import type { OperatorNode } from '#contract/operator/operator.ts'
import type { Handler } from '#http/reply.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'
import { readNodeFacts, type FactsDeps } from '#status/operator/read-facts.ts'

export const createOperatorNodeGet = (deps: FactsDeps): Handler =>
  operatorOnly(deps.state, async ({ signal }): Promise<OperatorNode> => ({
    object: 'operator_node',
    facts: await readNodeFacts(deps, signal),
  }))
