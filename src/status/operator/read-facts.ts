// The gateway's side of the operator's view: it asks the agent by a notification and reads the facts that the agent
// wrote.
import { sleep, type Clock } from '#base/clock.ts'
import type { NodeFacts } from '#contract/operator/operator.ts'
import type { Queryable } from '#state/connect.ts'
import { logOf, LOOK_CHANNEL } from './write-facts.ts'

const WAIT_MS = 3000
const AGAIN_MS = 100
/** A page that polls each few seconds gets the facts of the second before. */
const FRESH_S = 2

const READ = `
  select facts from node_facts
  where meter = $1 and at > clock_timestamp() - make_interval(secs => ${FRESH_S})`

/** The facts of the node, at most two seconds old; null where the agent wrote none within three seconds. */
export const readNodeFacts = (deps: FactsDeps, signal: AbortSignal): Promise<NodeFacts | null> =>
  readFacts<NodeFacts>(deps, deps.meter, signal)

/** The last lines of the log as the agent has them, the oldest first; null the same. */
export const readLogTail = (
  deps: FactsDeps,
  signal: AbortSignal,
): Promise<{ readonly lines: readonly string[] } | null> =>
  readFacts(deps, logOf(deps.meter), signal)

async function readFacts<Facts>(
  { state, clock }: FactsDeps,
  name: string,
  signal: AbortSignal,
): Promise<Facts | null> {
  const untilMs = clock.monotonicMs() + WAIT_MS
  await state.query('select pg_notify($1, $2)', [LOOK_CHANNEL, name])
  for (;;) {
    const { rows } = await state.query<{ facts: Facts }>(READ, [name])
    if (rows[0] !== undefined) return rows[0].facts
    if (clock.monotonicMs() > untilMs) return null
    await sleep(AGAIN_MS, signal)
  }
}

export type FactsDeps = {
  readonly state: Queryable
  readonly meter: string
  readonly clock: Pick<Clock, 'monotonicMs'>
}
