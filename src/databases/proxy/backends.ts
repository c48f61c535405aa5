// Connections to the servers of databases. A new backend costs the server 2.6 to 5 ms of CPU, 180 times a small query.
// So the proxy resets a backend whose client has left, and keeps it for the next client of equal role and parameters.
import { connect, type Socket } from 'node:net'
import { systemClock, type Clock } from '#base/clock.ts'
import { postgresFault } from '#postgres/faults.ts'
import { readMessage, type ByteWait } from './read-bytes.ts'
import {
  cancelMessage,
  message,
  queryMessage,
  startupMessage,
  TERMINATE,
  TYPE,
} from '#wire/messages.ts'

export type Backend = {
  readonly socket: Socket
  readonly beganMs: number
  /** Process and secret of the server's own: what a cancel request names. */
  readonly key: Buffer
  /** The ParameterStatus messages of the login, for each client. */
  readonly parameters: Buffer
  /** Cancel requests on their way, which must not meet another client's query. */
  readonly cancels: Set<Promise<void>>
}

/** Where a session's backend is, and with which parameters it starts. */
export type BackendPlace = {
  readonly socketPath: string
  readonly parameters: ReadonlyMap<string, string>
}

/** The server refused the session; the client gets its message. */
export class BackendRefusal extends Error {
  readonly bytes: Buffer
  constructor(bytes: Buffer) {
    super('the server refused the session')
    this.bytes = bytes
  }
}

export interface Backends {
  /** A reset backend, or a new one. Rejects with a BackendRefusal, or where the server is away. */
  open(place: BackendPlace, waiting: ByteWait): Promise<Backend>
  /** Resets a young backend that is outside of a transaction, and keeps it in the place of the one kept longest. */
  keep(place: BackendPlace, backend: Backend, mark: ByteWait['mark']): Promise<void>
  /** Ends a backend whatever it does. */
  end(place: BackendPlace, backend: Backend): void
  /** Cancels the query of a backend; resolves when the server has acted on the request. */
  cancel(place: BackendPlace, backend: Backend): Promise<void>
  close(): void
}

/** The most connections to one database that are kept idle. */
export const KEPT_MAX = 8
/**
 * The longest life of a kept backend, from its start on. A backend has the settings that its role had then (ALTER ROLE
 * … SET): the next client of a reset backend has none that are older.
 */
export const KEPT_MS = 60_000
const RESET_TIMEOUT_MS = 5000
const MESSAGE_BYTES_MAX = 65_536
const RESET = queryMessage('DISCARD ALL')

type KeptBackend = { readonly name: string; readonly backend: Backend; readonly settle: () => void }

export function createBackends(clock: Pick<Clock, 'monotonicMs'> = systemClock): Backends {
  /** Kept connections by the sockets of their servers, those kept longest first. */
  const kept = new Map<string, KeptBackend[]>()

  const leftMs = ({ beganMs }: Backend) => beganMs + KEPT_MS - clock.monotonicMs()
  const forget = ({ socketPath }: BackendPlace, one: KeptBackend) => {
    one.settle()
    const rest = kept.get(socketPath)?.filter((other) => other !== one) ?? []
    if (rest.length > 0) kept.set(socketPath, rest)
    else kept.delete(socketPath)
  }
  const take = (place: BackendPlace): Backend | undefined => {
    const name = nameOf(place)
    const one = kept.get(place.socketPath)?.findLast((other) => other.name === name)
    if (one === undefined) return undefined
    forget(place, one)
    return one.backend.socket.destroyed ? take(place) : one.backend
  }
  const end: Backends['end'] = (place, backend) => {
    const { socket } = backend
    if (socket.destroyed) return
    // The server ends a backend without a client after a second only (client_connection_check_interval).
    void cancel(place, backend)
    socket.end(TERMINATE)
    socket.destroySoon()
  }
  const store = (place: BackendPlace, backend: Backend) => {
    const { socket } = backend
    const drop = () => {
      forget(place, one)
      socket.destroy()
    }
    const timer = setTimeout(drop, leftMs(backend))
    timer.unref()
    // A server that says something to nobody ends the session, mostly.
    socket.on('close', drop).on('readable', drop)
    const settle = () => {
      clearTimeout(timer)
      socket.off('close', drop).off('readable', drop)
    }
    const one = { name: nameOf(place), backend, settle }
    const list = kept.get(place.socketPath) ?? []
    const [oldest] = list
    kept.set(place.socketPath, [...list, one])
    if (oldest === undefined || list.length < KEPT_MAX) return
    forget(place, oldest)
    end(place, oldest.backend)
  }
  return {
    async open(place, waiting) {
      return take(place) ?? (await start(place, clock.monotonicMs(), waiting))
    },
    async keep(place, backend, mark) {
      await Promise.all(backend.cancels)
      const isYoung = leftMs(backend) > 0
      if (isYoung && (await reset(backend, mark))) store(place, backend)
      else end(place, backend)
    },
    end,
    cancel,
    close() {
      for (const one of [...kept.values()].flat()) one.backend.socket.end(TERMINATE)
    },
  }
}

const nameOf = ({ socketPath, parameters }: BackendPlace): string =>
  JSON.stringify([socketPath, ...[...parameters].toSorted()])

async function start(
  { socketPath, parameters }: BackendPlace,
  beganMs: number,
  waiting: ByteWait,
): Promise<Backend> {
  const socket = connect(socketPath)
  // For its whole life: a write to a server that has just ended fails at any time.
  socket.on('error', () => socket.destroy())
  try {
    socket.write(startupMessage(parameters))
    const said: Buffer[] = []
    let key = Buffer.alloc(8)
    for (;;) {
      const { type, body } = await readMessage(socket, MESSAGE_BYTES_MAX, waiting)
      if (type === TYPE.ready) {
        return { socket, beganMs, key, parameters: Buffer.concat(said), cancels: new Set() }
      }
      if (type === TYPE.backendKey) key = Buffer.from(body)
      else if (type === TYPE.error) throw new BackendRefusal(message(type, body))
      else if (type === TYPE.parameterStatus || type === TYPE.notice) said.push(message(type, body))
      else if (type !== TYPE.authentication || body.readInt32BE(0) !== 0)
        throw postgresFault('postgres_not_ready', 'The server asked for a password')
    }
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** True when the session is as new. */
async function reset({ socket }: Backend, mark: ByteWait['mark']): Promise<boolean> {
  if (socket.destroyed) return false
  const waiting = { signal: AbortSignal.timeout(RESET_TIMEOUT_MS), mark }
  try {
    socket.write(RESET)
    for (;;) {
      const { type, body } = await readMessage(socket, MESSAGE_BYTES_MAX, waiting)
      if (type === TYPE.error) return false
      if (type === TYPE.ready) return body.toString() === 'I' && socket.readableLength === 0
    }
  } catch {
    return false
  }
}

/** The server closes the connection of a cancel request when the signal is sent. */
function cancel({ socketPath }: BackendPlace, { key, cancels }: Backend): Promise<void> {
  const done = new Promise<void>((resolve) => {
    const socket = connect(socketPath, () => socket.end(cancelMessage(key)))
    socket.on('error', () => socket.destroy())
    socket.setTimeout(RESET_TIMEOUT_MS, () => socket.destroy())
    socket.once('close', () => resolve()).resume()
  })
  cancels.add(done)
  void done.then(() => cancels.delete(done))
  return done
}
