// Requests and failures of each part since the last scan: the gateways count them since their start
// (src/http/request-counts.ts), and this process takes the differences.
import type { ModelCounts } from '#http/request-counts.ts'
import { ask } from '#node/cell-specs.ts'
import type { RequestFailures } from './measure.ts'
import { modelPart, partOf } from './parts.ts'

/** A page of a gateway's inside. */
export const COUNTS_PAGE = '/counts'
export type CountsPage = {
  readonly counts: readonly Pick<ModelCounts, 'operation' | 'model' | 'statuses' | 'failures'>[]
}

const ASK_MS_MAX = 3000

export type CountsReader = (signal: AbortSignal) => Promise<ReadonlyMap<string, RequestFailures>>

/** A gateway that does not answer adds nothing. Counts from before the first scan are left out. */
export function createCountsReader(sockets: readonly string[]): CountsReader {
  const seen = new Map<string, Map<string, RequestFailures>>()

  async function look(socket: string, signal: AbortSignal): Promise<Map<string, RequestFailures>> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS_MAX)])
    const { counts } = (await ask(socket, COUNTS_PAGE, limit)) as CountsPage
    const now = totals(counts)
    const before = seen.get(socket)
    seen.set(socket, now)
    return before === undefined ? new Map() : differences(now, before)
  }
  return async (signal) => {
    const sum = new Map<string, RequestFailures>()
    const looks = await Promise.allSettled(sockets.map((socket) => look(socket, signal)))
    for (const one of looks)
      if (one.status === 'fulfilled')
        for (const [part, counted] of one.value) add(sum, part, counted)
    return sum
  }
}

/** By part; a model is a part of its own, and of inference. */
function totals(counts: CountsPage['counts']): Map<string, RequestFailures> {
  const sum = new Map<string, RequestFailures>()
  for (const { operation, model, statuses, failures } of counts) {
    const counted = {
      requests: statuses.reduce((all, one) => all + one, 0),
      failures,
    }
    add(sum, partOf(operation), counted)
    if (model !== undefined) add(sum, modelPart(model), counted)
  }
  return sum
}

function add(
  sum: Map<string, RequestFailures>,
  part: string,
  { requests, failures }: RequestFailures,
): void {
  const before = sum.get(part) ?? { requests: 0, failures: 0 }
  sum.set(part, { requests: before.requests + requests, failures: before.failures + failures })
}

function differences(
  now: ReadonlyMap<string, RequestFailures>,
  before: ReadonlyMap<string, RequestFailures>,
): Map<string, RequestFailures> {
  return new Map(
    [...now].map(([part, { requests, failures }]) => {
      const old = before.get(part)
      // A gateway that was started anew counts from 0.
      const isAnew = old === undefined || requests < old.requests || failures < old.failures
      return [
        part,
        isAnew
          ? { requests, failures }
          : { requests: requests - old.requests, failures: failures - old.failures },
      ]
    }),
  )
}
