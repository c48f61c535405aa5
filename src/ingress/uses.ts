// The resources that requests use now. Each has one open request to the agent, for as long as any request runs and the
// resource has work of its own left, and the connections to its instance.
import { fault } from '#contract/errors.ts'
import { askAgent, type AgentAnswer, type AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { untilIdle } from '#node/until-idle.ts'
import { errorOfLine, type WakeLine } from './awake/awake.ts'
import { rulesOfKind } from './kinds.ts'
import type { IngressRoute } from './routes.ts'
import { openInstancePool, socketPathOf, type InstancePool } from './instance-pool.ts'

export type InstanceUse = {
  readonly pool: InstancePool
  /** Tells the agent that a request has not ended in its time. */
  late(): void
  end(): void
}

type Asked = Pick<IngressRoute, 'id' | 'kind'>

export interface InstanceUses {
  /**
   * Rejects with why there is none. Aborts the request with the error for it, when the resource must not be used any more.
   */
  begin(route: Asked, ending: AbortController): Promise<InstanceUse>
  close(): void
}

/** Requests that follow each other ask the agent once. */
const REST_MS = 1000
/** Its start, and the end of an earlier version before it. */
const START_MS = 60_000

type HeldInstance = { readonly address: string; readonly pool: InstancePool }
type Held = {
  readonly kind: IngressRoute['kind']
  readonly instance: Promise<HeldInstance>
  readonly answer: AgentAnswer
  /** The requests that run. */
  readonly users: Set<AbortController>
  /** Ends the use when no request has followed. */
  rest?: NodeJS.Timeout
}

export function createInstanceUses(agent: AgentSocket): InstanceUses {
  const uses = new Map<string, Held>()
  const open = (route: Asked): Held => {
    const use = ask(agent, route, () => {
      if (uses.get(route.id) === use) uses.delete(route.id)
    })
    uses.set(route.id, use)
    return use
  }
  return {
    async begin(route, ending) {
      const use = uses.get(route.id) ?? open(route)
      use.users.add(ending)
      clearTimeout(use.rest)
      try {
        const instance = await use.instance
        return {
          pool: instance.pool,
          late: () => use.answer.say({ late: true }),
          end: () => release(use, ending, instance),
        }
      } catch (error) {
        use.users.delete(ending)
        throw error
      }
    },
    close: () => uses.forEach(({ answer }) => answer.end()),
  }
}

/** Asks for a running instance. `forget` is called when later requests must ask again. */
function ask(agent: AgentSocket, { id, kind }: Asked, forget: () => void): Held {
  const { promise, resolve, reject } = Promise.withResolvers<HeldInstance>()
  // Nobody may wait any more.
  promise.catch(() => undefined)
  const users = new Set<AbortController>()
  const answer = askAgent(agent, {
    path: `/${id}`,
    firstLineMs: START_MS,
    take(value) {
      const line = value as WakeLine
      if ('address' in line)
        return resolve({ address: line.address, pool: openInstancePool(line.address) })
      forget()
      if (!('refused' in line)) return reject(replaced(kind))
      const error = errorOfLine(line)
      reject(error)
      for (const ending of users) ending.abort(error)
    },
  })
  void answer.ended.then(() => {
    forget()
    reject(replaced(kind))
    // Requests that run keep their connections.
    void promise.then(({ pool }) => pool.close()).catch(() => undefined)
  })
  return { kind, instance: promise, answer, users }
}

function release(use: Held, ending: AbortController, instance: HeldInstance): void {
  const { users } = use
  users.delete(ending)
  if (users.size > 0) return
  clearTimeout(use.rest)
  use.rest = setTimeout(() => void endUnused(use, instance), REST_MS)
}

async function endUnused({ users, kind, answer }: Held, { address }: HeldInstance): Promise<void> {
  if (rulesOfKind(kind).hasOurRuntime) await untilIdle(socketPathOf(address))
  if (users.size === 0) answer.end()
}

const replaced = (kind: IngressRoute['kind']) =>
  fault(rulesOfKind(kind).refusals.starting, `Could not run the ${kind}: it is being replaced`, {
    retryAfterS: 1,
  })
