// Requests and failures of each part since the last scan: gateways and the ingress count them since their start
// (src/http/request-counts.ts, src/ingress/routed-counts.ts), and this process takes the differences.
import {
  COUNTS_PAGE,
  ROUTED_COUNTS_PAGE,
  type CountsPage,
  type RoutedCounts,
} from '#http/counts-pages.ts'
import { ask } from '#node/cell-specs.ts'
import type { RequestFailures } from './measure.ts'
import { FUNCTIONS_PART, modelPart, partOf } from './parts.ts'

const ASK_MS_MAX = 3000

export type CountsReader = (signal: AbortSignal) => Promise<ReadonlyMap<string, RequestFailures>>

/** A process that does not answer adds nothing. Counts from before the first scan are left out. */
export function createCountsReader(deps: {
  readonly gatewaySockets: readonly string[]
  readonly ingressSocket: string
}): CountsReader {
  const { gatewaySockets, ingressSocket } = deps
  const seen = new Map<string, ReadonlyMap<string, RequestFailures>>()
  const ofGateway: CountsQuestion = async (socket, signal) =>
    totals(((await ask(socket, COUNTS_PAGE, signal)) as CountsPage).counts)
  const ofIngress: CountsQuestion = async (socket, signal) =>
    new Map([[FUNCTIONS_PART, (await ask(socket, ROUTED_COUNTS_PAGE, signal)) as RoutedCounts]])

  async function look(socket: string, totalsOf: CountsQuestion, signal: AbortSignal) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS_MAX)])
    const now = await totalsOf(socket, limit)
    const before = seen.get(socket)
    seen.set(socket, now)
    return before === undefined ? new Map<string, RequestFailures>() : differences(now, before)
  }
  return async (signal) => {
    const sum = new Map<string, RequestFailures>()
    const looks = await Promise.allSettled([
      ...gatewaySockets.map((socket) => look(socket, ofGateway, signal)),
      look(ingressSocket, ofIngress, signal),
    ])
    for (const one of looks)
      if (one.status === 'fulfilled')
        for (const [part, counted] of one.value) add(sum, part, counted)
    return sum
  }
}

type CountsQuestion = (
  socket: string,
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, RequestFailures>>

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
