// The resources that requests use now. Each has one open request to the agent, for as long as any request runs and the
// resource has work of its own left.
import { callUnix } from '#base/unix-client.ts'
import { fault } from '#contract/errors.ts'
import { askAgent, type AgentAnswer, type AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { errorOfLine, type WakeLine } from './awake/awake.ts'
import { kindRules } from './kinds.ts'
import type { IngressRoute } from './routes.ts'

export type InstanceUse = {
  readonly address: string
  /** Aborts with the error for requests that run, when the resource must not be used any more. */
  readonly refused: AbortSignal
  /** Tells the agent that a request has not ended in its time. */
  late(): void
  end(): void
}

export interface InstanceUses {
  /** Rejects with why there is none. */
  begin(route: Pick<IngressRoute, 'id' | 'kind'>): Promise<InstanceUse>
  close(): void
}

/** Its start, and the end of an earlier version before it. */
const START_MS = 60_000
/** Work after the last answer: the longest time of a request, and some. */
const IDLE_MAX_MS = 920_000

type Held = {
  readonly kind: IngressRoute['kind']
  readonly address: Promise<string>
  readonly answer: AgentAnswer
  readonly refused: AbortSignal
  users: number
}

export function createInstanceUses(agent: AgentSocket): InstanceUses {
  const uses = new Map<string, Held>()
  const open = ({ id, kind }: Parameters<InstanceUses['begin']>[0]): Held => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    // Nobody may wait any more.
    promise.catch(() => undefined)
    const refused = new AbortController()
    const forget = () => {
      if (uses.get(id) === use) uses.delete(id)
    }
    const answer = askAgent(agent, {
      path: `/${id}`,
      firstLineMs: START_MS,
      take(value) {
        const line = value as WakeLine
        if ('address' in line) return resolve(line.address)
        forget()
        if (!('refused' in line)) return reject(replaced(kind))
        const error = errorOfLine(line)
        reject(error)
        refused.abort(error)
      },
    })
    void answer.ended.then(() => {
      forget()
      reject(replaced(kind))
    })
    const use: Held = { kind, address: promise, answer, refused: refused.signal, users: 0 }
    uses.set(id, use)
    return use
  }
  const release = async (use: Held, address: string) => {
    use.users--
    if (use.users > 0) return
    if (kindRules(use.kind).hasOurRuntime) await untilIdle(address)
    if (use.users === 0) use.answer.end()
  }
  return {
    async begin(route) {
      const use = uses.get(route.id) ?? open(route)
      use.users++
      try {
        const address = await use.address
        return {
          address,
          refused: use.refused,
          late: () => use.answer.say({ late: true }),
          end: () => void release(use, address),
        }
      } catch (error) {
        use.users--
        throw error
      }
    },
    close: () => uses.forEach(({ answer }) => answer.end()),
  }
}

const replaced = (kind: IngressRoute['kind']) =>
  fault(kindRules(kind).refusals.starting, `Could not run the ${kind}: it is being replaced`, {
    retryAfterS: 1,
  })

/** Resolves when the code has no work left; at once where it is gone. */
const untilIdle = (address: string): Promise<unknown> =>
  callUnix({
    socketPath: socketPathOf(address),
    path: '/-/idle',
    signal: AbortSignal.timeout(IDLE_MAX_MS),
  }).catch(() => undefined)

/** The socket of an address; throws for a kind that there is not yet. */
export function socketPathOf(address: string): string {
  if (address.startsWith('unix:')) return address.slice('unix:'.length)
  throw new TypeError(`Not the address of an instance: ${address}`)
}
