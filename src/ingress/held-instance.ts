// One instance that requests use. It has an open request to the agent, for as long as any request runs and the
// instance has work of its own left, and the connections to it.
import { Bag } from '#base/bag.ts'
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { CausedByCells, CausedWork } from '#node/meter/caused-by-cells.ts'
import {
  AgentSilent,
  askAgent,
  type AgentAnswer,
  type AgentSocket,
} from '#node/agent-socket/ask-agent.ts'
import { untilIdle } from '#node/until-idle.ts'
import { errorOfLine, pathOfInstance, type WakeLine } from './awake/awake.ts'
import { openInstancePool, socketPathOf, type InstancePool } from './instance-pool.ts'
import { rulesOfKind } from './kinds.ts'
import type { RequestEnding } from './request-ending.ts'
import type { IngressRoute } from './routes.ts'
import { agentAwayFault, unstartedFault } from './start-failure.ts'

/** Its start, and the end of an earlier version before it. */
const START_MS = 60_000
/** An instance that has just not answered is asked after all others. */
const DOWN_MS = 1000

export type AskedInstance = Pick<IngressRoute, 'id' | 'kind'> & { readonly nth: number }

export type UseDeps = {
  readonly agent: AgentSocket
  readonly caused: Pick<CausedByCells, 'begin'>
  /** The time of a start: 60 s. */
  readonly startMs?: number
}

export class HeldInstance {
  /** Resolves when it can be used; rejects with why it cannot. */
  readonly opened: Promise<void>
  readonly #asked: AskedInstance
  readonly #answer: AgentAnswer
  /** The requests that run. */
  readonly #users = new Bag<RequestEnding>()
  #address = ''
  #work: CausedWork | undefined
  #pool: InstancePool | undefined
  #loading: Promise<void> | undefined
  #isDownUntilMs = 0
  #isRetired = false
  /** This process has ended it. */
  #isEnded = false
  #refusal: ErgonError | undefined
  #stands = false

  /** `gone` is called when later requests must ask again. */
  constructor(
    { agent, caused, startMs = START_MS }: UseDeps,
    asked: AskedInstance,
    gone: () => void,
  ) {
    this.#asked = asked
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Nobody may wait any more.
    promise.catch(() => undefined)
    this.opened = promise
    const loaded = Promise.withResolvers<void>()
    void loaded.promise.then(() => (this.#loading = undefined))
    const refuse = (error: ErgonError) => {
      gone()
      reject(error)
    }
    this.#answer = askAgent(agent, {
      path: pathOfInstance(asked),
      firstLineMs: startMs,
      take: (value) => {
        const line = value as WakeLine
        if ('loaded' in line) return loaded.resolve()
        if ('address' in line) {
          if (line.isLoading === true) this.#loading = loaded.promise
          this.#address = line.address
          this.#work = caused.begin(line.cell)
          this.#pool = openInstancePool(line.address, this.#work)
          return resolve()
        }
        if (!('refused' in line)) return refuse(replacedFault(asked))
        const error = errorOfLine(line)
        this.#refusal = error
        this.#stands = line.stands === true
        if (this.#stands) reject(error)
        else refuse(error)
        for (const ending of this.#users) ending.abort(error)
      },
    })
    void this.#answer.ended.then((reason) => {
      this.#stands = false
      refuse(this.#isEnded ? replacedFault(asked) : awayFault(asked, reason))
      loaded.resolve()
      // Requests that run keep their connections.
      this.#pool?.close()
      this.#work?.end()
    })
  }

  /** Undefined until it can be used. */
  get pool(): InstancePool | undefined {
    return this.#pool
  }

  /** Resolves once its code is loaded; undefined where it is. A request that comes before waits in it. */
  get loading(): Promise<void> | undefined {
    return this.#loading
  }

  /** Why it must not be used any more; it may come with the address. */
  get refusal(): ErgonError | undefined {
    return this.#refusal
  }

  /** The agent says so for as long as its answer is open: nothing else needs to be asked. */
  get standingRefusal(): ErgonError | undefined {
    return this.#stands ? this.#refusal : undefined
  }

  get usersCount(): number {
    return this.#users.size
  }

  get isDown(): boolean {
    return this.#isDownUntilMs > 0 && performance.now() < this.#isDownUntilMs
  }

  /** It has not answered a request. */
  down(): void {
    this.#isDownUntilMs = performance.now() + DOWN_MS
  }

  /** A request of it has not ended in its time. */
  late(): void {
    this.#answer.say({ late: true })
  }

  add(user: RequestEnding): void {
    this.#users.add(user)
  }

  remove(user: RequestEnding): void {
    this.#users.delete(user)
    if (this.#isRetired) void this.#endUnused()
  }

  /** Ends the use once the last request has ended. */
  retire(): void {
    this.#isRetired = true
    void this.#endUnused()
  }

  close(): void {
    this.#isEnded = true
    this.#answer.end()
  }

  async #endUnused(): Promise<void> {
    const isOpen = this.#pool !== undefined && this.#users.size === 0
    if (isOpen && rulesOfKind(this.#asked.kind).hasOurRuntime)
      await untilIdle(socketPathOf(this.#address))
    if (this.#users.size === 0) this.close()
  }
}

const awayFault = ({ kind }: AskedInstance, reason: Error): ErgonError =>
  reason instanceof AgentSilent ? unstartedFault(kind) : agentAwayFault(kind)

const replacedFault = ({ kind }: AskedInstance) =>
  fault(rulesOfKind(kind).refusals.starting, `Could not run the ${kind}: it is being replaced`, {
    retryAfterS: 1,
  })
