// The agent's side of the operator's view: it writes what it knows of the node into the state when a gateway asks with a
// notification, at most once a second. Nothing listens in the agent for that, and a gateway can ask for nothing else.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { State } from '#state/connect.ts'

/** The channel by which gateways ask; the payload is the name of the facts: the meter, or `logOf(meter)`. */
export const LOOK_CHANNEL = 'ergon_looks'
/** The name of the last lines of the log. */
export const logOf = (meter: string): string => `${meter} log`
const REST_MS = 1000

const WRITE = `
  insert into node_facts (meter, at, facts) values ($1, clock_timestamp(), $2)
  on conflict (meter) do update set at = excluded.at, facts = excluded.facts`

/** Facts by the names that gateways ask for. */
type FactsByName = Readonly<Record<string, () => object>>
type LooksDeps = { readonly state: State; readonly facts: FactsByName; readonly log: Logger }

/** Writes facts when they are asked for, until it is disposed of. */
export async function writeAtLooks(deps: LooksDeps): Promise<AsyncDisposable> {
  const looks = new Map(
    Object.entries(deps.facts).map(([name, read]) => [name, createLook(deps, name, read)]),
  )
  return await deps.state.listen(LOOK_CHANNEL, (name) => {
    // An empty payload: some may have been missed.
    if (name === '') for (const look of looks.values()) look()
    else looks.get(name)?.()
  })
}

/** Writes facts of one name, at most once a second. */
function createLook({ state, log }: LooksDeps, name: string, read: () => object): () => void {
  let isResting = false
  let isAsked = false
  const write = async (): Promise<void> => {
    try {
      await state.query(WRITE, [name, JSON.stringify(read())])
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
  return look
}
