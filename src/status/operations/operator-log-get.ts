// GET /v1/operator/log: the last lines of the agent's log, by level and subsystem.
import { parseOperatorLogQuery } from '#contract/operator/operator.ts'
import type { Handler } from '#http/reply.ts'
import { logOfLines } from '#status/operator/log-lines.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'
import { readLogTail, type FactsDeps } from '#status/operator/read-facts.ts'

export const createOperatorLogGet = (deps: FactsDeps): Handler =>
  operatorOnly(deps.state, async ({ query, signal }) => {
    const wanted = parseOperatorLogQuery(query())
    return logOfLines((await readLogTail(deps, signal))?.lines ?? null, wanted)
  })
