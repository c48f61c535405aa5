// The proxy's request to the agent: to keep the server of a database running while sessions use it. The request
// stays open for as long as that; its end, also that of a killed proxy, lets the server stop when it is idle, and gives
// its share of the database's sessions back.
import type { FatalError } from '#wire/messages.ts'
import { askAgent, type AgentAnswer, type AgentSocket } from '#node/agent-socket/ask-agent.ts'

/**
 * The lines of the answer: the proxy's share of sessions; a request for the unused part of that share; where the server
 * listens; the warning that sessions begin with; the logins that may have sessions. The last kind ends the sessions of
 * some backends, or all.
 */
export type AwakeLine =
  | { readonly sessions: number }
  | { readonly recall: true }
  | {
      readonly socketPath: string
      readonly warning: FatalError | null
      readonly logins: readonly string[]
    }
  | { readonly logins: readonly string[] }
  | { readonly warning: FatalError | null }
  | { readonly fatal: FatalError; readonly pids?: readonly number[] }

/** The lines of the request: a larger share is wanted; so much of it is given back. */
export type ProxyLine = { readonly more: true } | { readonly unused: number }

export interface Awake {
  readonly socketPath: string
  /** The sessions that this proxy may have. */
  readonly sessions: number
  /** For sessions that begin. */
  readonly warning: FatalError | null
  /** Logins that may have sessions. */
  readonly logins: readonly string[]
  /** Called when the logins have changed. */
  onLogins: () => void
  /** Called with the backends whose sessions must end, and the last message for their clients. */
  onCut: (pids: readonly number[], fatal: FatalError) => void
  /** Called when the agent wants back what is not used; returns the number of sessions in use. */
  onRecall: () => number
  /** Asks for a larger share; resolves with the answer, or when the server must not be used any more. */
  more(): Promise<void>
  /** Resolves when the server must not be used any more, with the last message for its clients. */
  readonly ended: Promise<FatalError>
  release(): void
}

/** The agent refused to start the server. */
export class NotAwake extends Error {
  readonly fatal: FatalError
  constructor(fatal: FatalError) {
    super(fatal.message)
    this.fatal = fatal
  }
}

/** The group of the agent's socket. */
export const AGENT_SOCKETS = 'db-agent'
/**
 * The beginning of the path of a backup that uses a database, and the path of the answer that lists the running
 * servers.
 */
export const BACKUPS_PATH = '/backups/'
/** The parameter with the login of the session that asks first. */
export const LOGIN_PARAMETER = 'login'
export const RUNNING_PATH = '/running'
/** The answer is the certificate of the endpoint. */
export const CERTIFICATE_PATH = '/certificate'
/** The hint of a refusal that passes by itself. */
export const SOON = 'Try again in a few seconds.'
const AWAY: FatalError = {
  code: '57P03',
  message: 'the database cannot be started now',
  hint: SOON,
}

/** A server that waits for the end of its own last life, and then recovers from a crash: its clients wait so long. */
export const START_MS = 300_000

/** Asks the agent for a running server. Rejects with NotAwake, or with the signal's reason. */
export function keepAwake(
  agent: AgentSocket,
  database: string,
  signal: AbortSignal,
): Promise<Awake> {
  const kept: KeptAwake = new KeptAwake(
    askAgent(agent, {
      path: `/${database}`,
      take: (line) => kept.take(line as AwakeLine),
      firstLineMs: START_MS,
    }),
  )
  return kept.begun(signal)
}

class KeptAwake implements Awake {
  socketPath = ''
  sessions = 0
  warning: FatalError | null = null
  logins: readonly string[] = []
  onLogins: Awake['onLogins'] = () => undefined
  onCut: Awake['onCut'] = () => undefined
  readonly #answer: AgentAnswer
  readonly #begun = Promise.withResolvers<Awake>()
  readonly #ended = Promise.withResolvers<FatalError>()
  #asked: PromiseWithResolvers<void> | undefined

  constructor(answer: AgentAnswer) {
    this.#answer = answer
    void answer.ended.then(() => this.fail(AWAY))
  }

  get ended(): Promise<FatalError> {
    return this.#ended.promise
  }

  onRecall = (): number => this.sessions

  async begun(signal: AbortSignal): Promise<Awake> {
    const stop = () => {
      this.release()
      this.#begun.reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    return await this.#begun.promise.finally(() => signal.removeEventListener('abort', stop))
  }

  more(): Promise<void> {
    if (this.#asked === undefined) {
      this.#asked = Promise.withResolvers()
      this.#say({ more: true })
    }
    return this.#asked.promise
  }

  release(): void {
    this.#answer.end()
  }

  take(line: AwakeLine): void {
    if ('fatal' in line) {
      if (line.pids === undefined) this.fail(line.fatal)
      else this.onCut(line.pids, line.fatal)
    } else if ('recall' in line) {
      const unused = Math.max(0, this.sessions - this.onRecall())
      this.sessions -= unused
      this.#say({ unused })
    } else {
      Object.assign(this, line)
      if ('sessions' in line) this.#answered()
      if ('logins' in line) this.onLogins()
      if ('socketPath' in line) this.#begun.resolve(this)
    }
  }

  /** The first call counts. */
  fail(fatal: FatalError): void {
    this.#begun.reject(new NotAwake(fatal))
    this.#ended.resolve(fatal)
    this.#answered()
    this.release()
  }

  #answered(): void {
    this.#asked?.resolve()
    this.#asked = undefined
  }

  #say(line: ProxyLine): void {
    this.#answer.say(line)
  }
}
