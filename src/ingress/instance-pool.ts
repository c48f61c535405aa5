// The connections to one running instance: kept while requests follow each other, so that a request mostly finds one open.
// The reader is our own: docs/decisions/ingress.md.
import type { AnswerTaker, HttpConnection, HttpRequest } from '#http-client/http-connection.ts'
import { KeptConnections } from '#http-client/kept-connections.ts'
import type { CausedWork } from '#node/meter/caused-by-cells.ts'
import { createGrpcSessions, type GrpcSessions } from './grpc/grpc-session.ts'

/** The code behind it may close an idle connection at any time: after this time a new one is safer. */
const IDLE_MS = 1000
const RULES = { idleMs: IDLE_MS, lookMs: IDLE_MS }

export interface InstancePool {
  /** Throws NotHttp for a request that cannot be sent, and NotAnswered once it is closed. */
  ask(request: HttpRequest, taker: AnswerTaker): HttpConnection
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
  const grpc = createGrpcSessions(path, work)
  const connections = new KeptConnections({ path }, work, RULES)
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

/** The socket of an address; throws for a kind that there is not yet. */
export function socketPathOf(address: string): string {
  if (address.startsWith(SCHEME)) return address.slice(SCHEME.length)
  throw new TypeError(`Not the address of an instance: ${address}`)
}
