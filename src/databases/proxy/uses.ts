// Databases that have sessions in this process: the agent keeps the server of each running until the last one ends.
import { keepAwake, type Awake } from '#databases/awake.ts'
import { SESSIONS_MAX } from '#databases/session-shares.ts'
import type { Relay } from './relay.ts'
import type { FatalError } from './wire.ts'

export type Use = {
  readonly awake: Awake
  /** The sessions by the pids of their backends. */
  readonly relays: Map<number, LoginRelay>
  /** The last message of every session, once the server is being ended. */
  readonly fatal: () => FatalError | undefined
  release(): void
}

export type LoginRelay = Relay & { readonly login: string }

export interface Uses {
  /**
   * A session more of a database, whose server runs until the release; undefined where the database has too many.
   * Rejects with NotAwake.
   */
  take(database: string): Promise<Use | undefined>
  /** Every session there is. */
  relays(): Relay[]
}

type Held = {
  /** Those that run, and those that wait for the server or for a larger share. */
  sessions: number
  timer?: NodeJS.Timeout
  readonly awake: Promise<Awake>
  readonly relays: Map<number, LoginRelay>
  fatal?: FatalError
}

/** The start of a server that recovers from a crash. */
const WAKE_TIMEOUT_MS = 60_000
/** A database is kept in use after its last session: a client that connects for each transaction comes again at once. */
const LINGER_MS = 1000
/** The last message of a login that was deleted. */
export const LOGIN_GONE: FatalError = {
  code: '57P01',
  message: 'the role was deleted',
  hint: 'Use another role: ergon db role list',
}

export function createUses(agent: Parameters<typeof keepAwake>[0]): Uses {
  const held = new Map<string, Held>()
  const forget = (database: string, one: Held) => {
    if (held.get(database) === one) held.delete(database)
  }
  const hold = (database: string): Held => {
    const awake = keepAwake(agent, database, AbortSignal.timeout(WAKE_TIMEOUT_MS))
    const one: Held = { sessions: 0, awake, relays: new Map() }
    held.set(database, one)
    const cutAtEnd = async () => {
      const running = await awake
      running.onCut = (pids, fatal) => pids.forEach((pid) => one.relays.get(pid)?.cut(fatal))
      running.onLogins = () => {
        for (const session of one.relays.values())
          if (!running.logins.includes(session.login)) session.cut(LOGIN_GONE)
      }
      running.onRecall = () => one.sessions
      const fatal = await running.ended
      one.fatal = fatal
      forget(database, one)
      for (const session of one.relays.values()) session.cut(fatal)
    }
    // take() rejects with the reason.
    cutAtEnd().catch(() => forget(database, one))
    return one
  }
  return {
    async take(database) {
      const one = held.get(database) ?? hold(database)
      if (one.sessions >= SESSIONS_MAX) return undefined
      one.sessions++
      clearTimeout(one.timer)
      const release = () => {
        one.sessions--
        if (one.sessions > 0 || held.get(database) !== one) return
        one.timer = setTimeout(() => {
          forget(database, one)
          void one.awake.then((awake) => awake.release())
        }, LINGER_MS)
        one.timer.unref()
      }
      const awake = await one.awake
      while (one.sessions > awake.sessions) {
        const before = awake.sessions
        await awake.more()
        // A refusal makes room for the next one that waits, before that one goes on.
        if (one.sessions <= awake.sessions || awake.sessions > before) continue
        release()
        return undefined
      }
      return { awake, relays: one.relays, fatal: () => one.fatal, release }
    },
    relays: () => [...held.values()].flatMap(({ relays }) => [...relays.values()]),
  }
}
