// GET /v1/functions/{id or name}/energy?since=: the charges of its cells, summed by the hour.
import { parseHourlyEnergyQuery } from '#contract/resources/hourly-energy.ts'
import { SHOWN_FUNCTIONS } from '#functions/find-function.ts'
import { FUNCTION_LIMITED } from '#functions/limited-operations.ts'
import type { Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { hourlyEnergy } from '#resources/hourly-energy.ts'
import type { State } from '#state/connect.ts'

export const createFunctionEnergy =
  ({ state, now }: { readonly state: State; readonly now: () => number }): Handler =>
  async (call) => {
    const { since } = parseHourlyEnergyQuery(call.query())
    const { id: resource, account } = await askedResource(SHOWN_FUNCTIONS, state, call)
    const asked = { account, resource, operations: FUNCTION_LIMITED, since, nowMs: now() }
    const reply = { object: 'function.energy', ...(await hourlyEnergy(state, asked)) }
    return { kind: 'known', status: 200, body: () => JSON.stringify(reply) }
  }
