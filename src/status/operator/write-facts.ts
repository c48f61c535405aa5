// The agent's side of the operator's view: it writes what it knows of the node into the state when a gateway asks with a
// notification, at most once a second. Nothing listens in the agent for that, and a gateway can ask for nothing else.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { NodeFacts } from '#contract/operator.ts'
import type { State } from '#state/connect.ts'

/** The channel by which gateways ask; the payload is the meter's name. */
export const LOOK_CHANNEL = 'ergon_looks'
const REST_MS = 1000

const WRITE = `
  insert into node_facts (meter, at, facts) values ($1, clock_timestamp(), $2)
  on conflict (meter) do update set at = excluded.at, facts = excluded.facts`

/** Writes facts when they are asked for, until it is disposed of. */
export async function writeAtLooks(deps: {
  readonly state: State
  readonly meter: string
  readonly facts: () => NodeFacts
  readonly log: Logger
}): Promise<AsyncDisposable> {
  const { state, meter, facts, log } = deps
  let isResting = false
  let isAsked = false
  const write = async (): Promise<void> => {
    try {
      await state.query(WRITE, [meter, JSON.stringify(facts())])
    } catch (error) {
      log.warn('The operator gets no facts of the node', { error: messageOf(error) })
    }
  }
  const look = (): void => {
    isAsked = isResting
    if (isResting) return
    isResting = true
    void write()
    setTimeout(() => {
      isResting = false
      if (isAsked) look()
    }, REST_MS).unref()
  }
  // An empty payload: some may have been missed.
  return await state.listen(LOOK_CHANNEL, (name) => {
    if (name === meter || name === '') look()
  })
}
