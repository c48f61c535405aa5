// The connections to one running instance: kept while requests follow each other, so that a request mostly finds one open.
// The reader is our own: docs/decisions/ingress.md.
import type { CausedWork } from '#node/meter/caused-by-cells.ts'
import { createGrpcSessions, type GrpcSessions } from './grpc/grpc-session.ts'
import {
  InstanceConnection,
  type AnswerTaker,
  type InstanceRequest,
} from './instance/instance-connection.ts'
import { NotAnswered } from './not-answered.ts'

/** The code behind it may close an idle connection at any time: after this time a new one is safer. */
const IDLE_MS = 1000

export interface InstancePool {
  /** Throws NotHttp for a request that cannot be sent, and NotAnswered once it is closed. */
  ask(request: InstanceRequest, taker: AnswerTaker): InstanceConnection
  /** CPU of this process for the instance. */
  readonly work: InstanceWork
  /** Sessions of HTTP/2, for gRPC. */
  readonly grpc: Pick<GrpcSessions, 'open'>
  /** Ends each connection after its last request. */
  close(): void
  destroy(): void
}

const SCHEME = 'unix:'

export type InstanceWork = Pick<CausedWork, 'piece' | 'count'>

/** Opens a pool of connections to `unix:<path>`. A connection has no limit of time: the request has. */
export function openInstancePool(address: string, work: InstanceWork): InstancePool {
  const path = socketPathOf(address)
  const grpc = createGrpcSessions(path)
  const connections = new KeptConnections(path, work)
  return {
    ask: (request, taker) => connections.ask(request, taker),
    work,
    grpc,
    close() {
      grpc.close()
      connections.close()
    },
    destroy() {
      grpc.destroy()
      connections.destroy()
    },
  }
}

class KeptConnections {
  readonly #path: string
  readonly #work: InstanceWork
  readonly #all = new Set<InstanceConnection>()
  /** The last used one is the last. */
  #idle: InstanceConnection[] = []
  #sweep: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(path: string, work: InstanceWork) {
    this.#path = path
    this.#work = work
  }

  ask(request: InstanceRequest, taker: AnswerTaker): InstanceConnection {
    if (this.#isClosed) throw new NotAnswered(false)
    const connection = this.#taken() ?? this.#opened()
    try {
      connection.ask(request, taker)
    } catch (error) {
      connection.destroy()
      throw error
    }
    return connection
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#sweep)
    for (const one of this.#idle.splice(0)) one.destroy()
  }

  destroy(): void {
    this.close()
    for (const one of this.#all) one.destroy()
  }

  #taken(): InstanceConnection | undefined {
    const last = this.#idle.pop()
    if (last === undefined || !isOld(last)) return last
    // So are those below it.
    last.destroy()
    for (const one of this.#idle.splice(0)) one.destroy()
    return undefined
  }

  #opened(): InstanceConnection {
    const opened = new InstanceConnection(this.#path, this.#work, (one, mayFollow) => {
      if (mayFollow && !this.#isClosed) return this.#keep(one)
      if (mayFollow) one.destroy()
      if (!this.#all.delete(one)) return
      const at = this.#idle.indexOf(one)
      if (at >= 0) this.#idle.splice(at, 1)
    })
    this.#all.add(opened)
    return opened
  }

  #keep(one: InstanceConnection): void {
    one.idleSinceMs = performance.now()
    this.#idle.push(one)
    this.#sweep ??= setTimeout(() => this.#endOld(), IDLE_MS)
  }

  #endOld(): void {
    const young = this.#idle.findIndex((one) => !isOld(one))
    for (const one of this.#idle.splice(0, young < 0 ? this.#idle.length : young)) one.destroy()
    this.#sweep = this.#idle.length > 0 ? setTimeout(() => this.#endOld(), IDLE_MS) : undefined
  }
}

const isOld = ({ idleSinceMs }: InstanceConnection): boolean =>
  performance.now() - idleSinceMs >= IDLE_MS

/** The socket of an address; throws for a kind that there is not yet. */
export function socketPathOf(address: string): string {
  if (address.startsWith(SCHEME)) return address.slice(SCHEME.length)
  throw new TypeError(`Not the address of an instance: ${address}`)
}
