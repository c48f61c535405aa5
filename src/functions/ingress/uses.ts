// The functions that requests use now. Each has one open request to the agent, for as long as any request runs and the
// function has work of its own left.
import { callUnix } from '#base/unix-client.ts'
import { fault } from '#contract/errors.ts'
import { askAgent, type AgentAnswer, type AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { errorOfLine, type FunctionAwakeLine } from '#functions/awake/awake.ts'

export type FunctionUse = {
  readonly address: string
  /** Aborts with the error for requests that run, when the function must not be used any more. */
  readonly refused: AbortSignal
  end(): void
}

export interface FunctionUses {
  /** Rejects with why there is none. */
  begin(id: string): Promise<FunctionUse>
  close(): void
}

/** Its start, and the end of an earlier version before it. */
const START_MS = 60_000
/** Work after the last answer: the longest time of a request, and some. */
const IDLE_MAX_MS = 920_000

type Held = {
  readonly address: Promise<string>
  readonly answer: AgentAnswer
  readonly refused: AbortSignal
  users: number
}

export function createFunctionUses(agent: AgentSocket): FunctionUses {
  const uses = new Map<string, Held>()
  const open = (id: string): Held => {
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
        const line = value as FunctionAwakeLine
        if ('address' in line) return resolve(line.address)
        forget()
        if (!('refused' in line)) return reject(replaced())
        const error = errorOfLine(line)
        reject(error)
        refused.abort(error)
      },
    })
    void answer.ended.then(() => {
      forget()
      reject(replaced())
    })
    const use: Held = { address: promise, answer, refused: refused.signal, users: 0 }
    uses.set(id, use)
    return use
  }
  const release = async (use: Held, address: string) => {
    use.users--
    if (use.users > 0) return
    await untilIdle(address)
    if (use.users === 0) use.answer.end()
  }
  return {
    async begin(id) {
      const use = uses.get(id) ?? open(id)
      use.users++
      try {
        const address = await use.address
        return { address, refused: use.refused, end: () => void release(use, address) }
      } catch (error) {
        use.users--
        throw error
      }
    },
    close: () => uses.forEach(({ answer }) => answer.end()),
  }
}

const replaced = () =>
  fault('function_starting', 'Could not run the function: it is being replaced', { retryAfterS: 1 })

/** Resolves when the function has no work left; at once where it is gone. */
const untilIdle = (address: string): Promise<unknown> =>
  callUnix({
    socketPath: socketPathOf(address),
    path: '/-/idle',
    signal: AbortSignal.timeout(IDLE_MAX_MS),
  }).catch(() => undefined)

/** The socket of an address; throws for a kind that there is not yet. */
export function socketPathOf(address: string): string {
  if (address.startsWith('unix:')) return address.slice('unix:'.length)
  throw new TypeError(`Not the address of a function: ${address}`)
}
