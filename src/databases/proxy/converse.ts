// The session of a client that is logged in: its database is started, a backend is found, and bytes are relayed.
import type { Socket } from 'node:net'
import { Failure } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { reasonWords, suspendedWords } from '#databases/agent-socket/state-words.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import { BackendRefusal, type BackendPlace, type Backends } from './backends.ts'
import type { Cancels } from './cancels.ts'
import { fatalOf } from './bill.ts'
import { LoginRefusal } from './handshake.ts'
import { relay } from './relay.ts'
import type { Role } from './roles.ts'
import { LOGIN_GONE, type Use } from './used-database.ts'
import type { Uses } from './uses.ts'
import {
  AUTHENTICATED,
  fatalMessage,
  message,
  READY,
  TYPE,
  warningMessage,
  type FatalError,
} from '#wire/messages.ts'

/** The CPU of a login: of its database once a session begins. */
export type LoginPayer = { cpuNs: number; isServed: boolean }

export type Login = {
  readonly parameters: ReadonlyMap<string, string>
  readonly payer: LoginPayer
}

export interface Conversations {
  /** Resolves when the session has ended. Rejects with a LoginRefusal, or where the client leaves before it has begun. */
  converse(socket: Socket, role: Role, login: Login): Promise<void>
}

const BACKEND_TIMEOUT_MS = 10_000
const STARTING: FatalError = {
  code: '57P03',
  message: 'the database is being made ready',
  hint: 'Try again in a few seconds.',
}
const FULL: FatalError = {
  code: '53300',
  message: `sorry, too many clients already: a database has ${SESSIONS_MAX}`,
  hint: 'Use a pool of connections, and close those that are not needed.',
}

export function createConversations(deps: {
  readonly backends: Backends
  readonly cancels: Pick<Cancels, 'issue' | 'revoke'>
  readonly uses: Uses
  readonly log: Logger
}): Conversations {
  const { backends, cancels, uses, log } = deps

  async function talk(
    { socket, login }: { readonly socket: Socket; readonly login: string },
    place: BackendPlace,
    { relays, awake, bill, fatal, giveUp }: Use,
  ): Promise<void> {
    const waiting = { signal: AbortSignal.timeout(BACKEND_TIMEOUT_MS), mark: bill.mark }
    const backend = await backends.open(place, waiting).catch((error: unknown) => {
      const words = fatal()
      giveUp()
      // A server that is being ended refuses with words of its own.
      if (words === undefined && error instanceof BackendRefusal) socket.write(error.bytes)
      else socket.write(fatalMessage(words ?? STARTING))
      log.debug('There is no backend', { error: String(error) })
    })
    if (backend === undefined) return
    if (socket.destroyed) return await backends.keep(place, backend, bill.mark)
    const key = cancels.issue(() => void backends.cancel(place, backend))
    const warning = awake.warning === null ? [] : [warningMessage(awake.warning)]
    const keyMessage = message(TYPE.backendKey, key)
    const greeting = [AUTHENTICATED, backend.parameters, keyMessage, ...warning, READY]
    socket.write(Buffer.concat(greeting))
    const session = { ...relay(socket, backend.socket, bill.piece), login }
    const pid = backend.key.readInt32BE(0)
    relays.set(pid, session)
    const late = fatal()
    if (late !== undefined) session.cut(late)
    // Deleted since it logged in.
    if (!awake.logins.includes(login)) session.cut(LOGIN_GONE)
    const end = await session.ended
    if (relays.get(pid) === session) relays.delete(pid)
    cancels.revoke(key)
    if (end === 'backend-gone') giveUp()
    if (end === 'idle') await backends.keep(place, backend, bill.mark)
    else backends.end(place, backend)
  }

  return {
    async converse(socket, role, { parameters, payer }) {
      demandServed(socket, role, parameters)
      const left = leavingOf(socket)
      const use = await uses.take(role, left).catch((error: unknown) => {
        left.throwIfAborted()
        throw new LoginRefusal(socket, fatalOf(error, role.databaseName))
      })
      if (use === undefined) throw new LoginRefusal(socket, FULL)
      const own = [
        ['user', role.serverRole],
        ['database', role.databaseName],
      ] as const
      payer.isServed = true
      use.bill.addLogin(payer.cpuNs)
      try {
        const { socketPath, logins } = use.awake
        if (!logins.includes(role.name)) throw new LoginRefusal(socket, STARTING)
        await talk(
          { socket, login: role.name },
          { socketPath, parameters: new Map([...parameters, ...own]) },
          use,
        )
      } finally {
        use.release()
      }
    },
  }
}

/** Aborts when the client leaves. A client that sent bytes ahead is not seen to leave: nobody reads them yet. */
function leavingOf(socket: Socket): AbortSignal {
  const left = new AbortController()
  const leave = () => left.abort(new Failure('the client has left'))
  if (socket.closed) leave()
  else socket.once('close', leave)
  return left.signal
}

/** Throws a LoginRefusal where there can be no session. */
function demandServed(socket: Socket, role: Role, parameters: ReadonlyMap<string, string>): void {
  // A driver without a database in its settings names the database after the user.
  const wanted = parameters.get('database') ?? role.name
  if (wanted !== role.databaseName && wanted !== role.name)
    throw new LoginRefusal(socket, {
      code: '3D000',
      message: `database "${wanted}" does not exist`,
      hint: `The database of this user is "${role.databaseName}".`,
    })
  if (!isOff(parameters.get('replication')))
    throw new LoginRefusal(socket, {
      code: '0A000',
      message: 'replication connections are not served',
      hint: 'Backups and copies are made by the service: ergon db backup, ergon db clone',
    })
  if (role.actual !== 'deployed')
    throw new LoginRefusal(
      socket,
      role.wanted === 'suspended'
        ? suspendedWords({ name: role.databaseName, held: role.held })
        : role.reason === null
          ? STARTING
          : reasonWords(role.databaseName, role.reason),
    )
}

const isOff = (text = 'off') => /^(off|false|no|0)$/i.test(text)
