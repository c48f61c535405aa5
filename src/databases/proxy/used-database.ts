// A database while this proxy uses it: from its first session until a moment after its last one.
import { onceDone } from '#base/once-done.ts'
import { unlessAborted } from '#base/unless-aborted.ts'
import { NotAwake, type Awake } from '#databases/agent-socket/awake.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import type { Bill } from './bill.ts'
import type { Relay } from './relay.ts'
import type { FatalError } from '#wire/messages.ts'

export type LoginRelay = Relay & { readonly login: string }

export type BegunUse = { readonly awake: Awake; readonly bill: Bill }

/** A session's part in it. */
export type Use = BegunUse & {
  /** The sessions by the pids of their backends. */
  readonly relays: Map<number, LoginRelay>
  /** The last message of every session, once the server is being ended. */
  readonly fatal: () => FatalError | undefined
  /** No further session joins: the server is gone, and the next one asks for it anew. */
  giveUp(): void
  release(): void
}

/** A client that connects for each transaction comes again at once. */
const LINGER_MS = 1000
/** The last message of a login that was deleted. */
export const LOGIN_GONE: FatalError = {
  code: '57P01',
  message: 'the role was deleted',
  hint: 'Use another role: ergon db role list',
}

export class UsedDatabase {
  readonly #begun: Promise<BegunUse>
  readonly #over: () => void
  readonly #relays = new Map<number, LoginRelay>()
  #fatal: FatalError | undefined
  /** Sessions that run, and sessions that wait for the server or for a larger share. */
  #sessions = 0
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  /** Aborts where the use ends before its server has started. */
  readonly #ending = new AbortController()

  /** Calls `over` once, when the use can have no further session. */
  constructor(begin: (ending: AbortSignal) => Promise<BegunUse>, over: () => void) {
    this.#begun = begin(this.#ending.signal)
    this.#over = over
    // take() rejects with the reason.
    this.#cutAtEnd().catch(() => this.#stop())
  }

  /**
   * A session more; undefined where there are too many. Rejects with the reason why the use did not begin, or with that
   * of the signal: then the session has no place any more.
   */
  async take(signal: AbortSignal): Promise<Use | undefined> {
    if (this.#sessions >= SESSIONS_MAX) return undefined
    this.#sessions++
    clearTimeout(this.#timer)
    try {
      const begun = await unlessAborted(this.#begun, signal)
      const { awake } = begun
      while (this.#sessions > awake.sessions) {
        const before = awake.sessions
        await unlessAborted(awake.more(), signal)
        // A refusal makes room for the next one that waits, before that one goes on.
        if (this.#sessions <= awake.sessions || awake.sessions > before) continue
        this.#release()
        return undefined
      }
      return {
        ...begun,
        relays: this.#relays,
        fatal: () => this.#fatal,
        giveUp: () => this.#stop(),
        release: () => this.#release(),
      }
    } catch (error) {
      this.#release()
      throw error
    }
  }

  /** Ends all sessions with words; resolves when they are charged. */
  async close(fatal: FatalError): Promise<void> {
    this.#cut(fatal)
    this.#ending.abort(new NotAwake(fatal))
    await this.#end()
  }

  async #cutAtEnd(): Promise<void> {
    const { awake, bill } = await this.#begun
    awake.onCut = (pids, fatal) => pids.forEach((pid) => this.#relays.get(pid)?.cut(fatal))
    awake.onLogins = () => {
      for (const session of this.#relays.values())
        if (!awake.logins.includes(session.login)) session.cut(LOGIN_GONE)
    }
    awake.onRecall = () => this.#sessions
    this.#cut(await Promise.race([awake.ended, bill.cut]))
    if (this.#sessions === 0) await this.#end()
  }

  #cut(fatal: FatalError): void {
    this.#fatal = fatal
    this.#stop()
    for (const session of this.#relays.values()) session.cut(fatal)
  }

  #release(): void {
    this.#sessions--
    if (this.#sessions > 0) return
    if (this.#isOver) return void this.#end()
    this.#timer = setTimeout(() => {
      this.#stop()
      void this.#end()
    }, LINGER_MS)
    this.#timer.unref()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    if (!this.#isOver) this.#over()
    this.#isOver = true
  }

  /** Runs once: the release of the server is the end of a use, too. */
  readonly #end = onceDone(async (): Promise<void> => {
    this.#ending.abort()
    const begun = await this.#begun.catch(() => undefined)
    begun?.awake.release()
    await begun?.bill.end()
  })
}
