// Connections to the servers of databases. A new backend costs the server 2.6 to 5 ms of CPU, 180 times a small query.
// So the proxy resets a backend whose client has left, and keeps it for the next client of equal role and parameters.
import { connect, type Socket } from 'node:net'
import { postgresFault } from '#postgres/faults.ts'
import { readMessage } from './read-bytes.ts'
import { cancelMessage, message, queryMessage, startupMessage, TERMINATE, TYPE } from './wire.ts'

export type Backend = {
  readonly socket: Socket
  /** Process and secret of the server's own: what a cancel request names. */
  readonly key: Buffer
  /** The ParameterStatus messages of the login, for each client. */
  readonly parameters: Buffer
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
  open(place: BackendPlace, signal: AbortSignal): Promise<Backend>
  /** Resets a backend that is outside of a transaction, and keeps it where there is room. */
  keep(place: BackendPlace, backend: Backend): Promise<void>
  /** Ends a backend whatever it does. */
  end(place: BackendPlace, backend: Backend): void
  /** Cancels the query of a backend. */
  cancel(place: BackendPlace, key: Buffer): void
  /** The number of kept backends. */
  readonly kept: number
  close(): void
}

const KEPT_MAX_PER_PLACE = 4
const KEPT_MAX = 200
const KEPT_MS = 60_000
const RESET_TIMEOUT_MS = 5000
const MESSAGE_BYTES_MAX = 65_536
const RESET = queryMessage('DISCARD ALL')

type Kept = { readonly backend: Backend; readonly end: () => void }

export function createBackends(): Backends {
  const kept = new Map<string, Kept[]>()
  let count = 0

  const take = (place: BackendPlace): Backend | undefined => {
    const list = kept.get(nameOf(place))
    for (let one = list?.pop(); one !== undefined; one = list?.pop()) {
      one.end()
      if (!one.backend.socket.destroyed) return one.backend
    }
    return undefined
  }
  const end: Backends['end'] = (place, { socket, key }) => {
    if (socket.destroyed) return
    // The server ends a backend without a client after a second only (client_connection_check_interval).
    cancel(place, key)
    socket.end(TERMINATE)
    socket.destroySoon()
  }
  return {
    get kept() {
      return count
    },
    async open(place, signal) {
      return take(place) ?? (await start(place, signal))
    },
    async keep(place, backend) {
      const name = nameOf(place)
      const isFull = () => (kept.get(name)?.length ?? 0) >= KEPT_MAX_PER_PLACE || count >= KEPT_MAX
      // The other clients of the moment leave while this backend is reset.
      if (isFull() || !(await reset(backend)) || isFull()) return end(place, backend)
      const list = kept.get(name) ?? []
      kept.set(name, list)
      count++
      const drop = () => {
        settle()
        backend.socket.destroy()
        list.splice(0, list.length, ...list.filter((one) => one.backend !== backend))
        if (list.length === 0 && kept.get(name) === list) kept.delete(name)
      }
      const settle = () => {
        count--
        clearTimeout(timer)
        backend.socket.off('close', drop).off('readable', drop)
      }
      const timer = setTimeout(drop, KEPT_MS)
      timer.unref()
      // A server that says something to nobody ends the session, mostly.
      backend.socket.on('close', drop).on('readable', drop)
      list.push({ backend, end: settle })
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
  signal: AbortSignal,
): Promise<Backend> {
  const socket = connect(socketPath)
  // For its whole life: a write to a server that has just ended fails at any time.
  socket.on('error', () => socket.destroy())
  try {
    socket.write(startupMessage(parameters))
    const said: Buffer[] = []
    let key = Buffer.alloc(8)
    for (;;) {
      const { type, body } = await readMessage(socket, { bytesMax: MESSAGE_BYTES_MAX, signal })
      if (type === TYPE.ready) return { socket, key, parameters: Buffer.concat(said) }
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
async function reset({ socket }: Backend): Promise<boolean> {
  if (socket.destroyed) return false
  const options = { bytesMax: MESSAGE_BYTES_MAX, signal: AbortSignal.timeout(RESET_TIMEOUT_MS) }
  try {
    socket.write(RESET)
    for (;;) {
      const { type, body } = await readMessage(socket, options)
      if (type === TYPE.error) return false
      if (type === TYPE.ready) return body.toString() === 'I' && socket.readableLength === 0
    }
  } catch {
    return false
  }
}

function cancel({ socketPath }: BackendPlace, key: Buffer): void {
  const socket = connect(socketPath, () => socket.end(cancelMessage(key)))
  socket.on('error', () => socket.destroy())
  socket.setTimeout(RESET_TIMEOUT_MS, () => socket.destroy())
}
