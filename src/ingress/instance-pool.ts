// The connections to one running instance: kept while requests follow each other, so that a request mostly finds one open.
import { connect } from 'node:net'
import { Pool } from 'undici'
import { createGrpcSessions, type GrpcSessions } from './grpc/grpc-session.ts'

/** The code behind it may close an idle connection at any time: after this time a new one is safer. */
const IDLE_MS = 1000
const HEADER_BYTES_MAX = 16_384

export type InstancePool = Pick<Pool, 'dispatch'> & {
  /** Of HTTP/2. */
  readonly grpc: Pick<GrpcSessions, 'open'>
  /** Ends the connections after their last requests. */
  close(): Promise<void>
  destroy(): Promise<void>
}

const SCHEME = 'unix:'

/** Of `unix:<path>`. A connection has no limit of time: the request has. */
export function openInstancePool(address: string): InstancePool {
  const path = socketPathOf(address)
  const grpc = createGrpcSessions(path)
  const pool = new Pool('http://instance', {
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    connect(_options, done) {
      const socket = connect(path)
      socket.once('error', (error) => done(error, null))
      socket.once('connect', () => done(null, socket))
    },
  })
  return {
    dispatch: (options, handler) => pool.dispatch(options, handler),
    grpc,
    close() {
      grpc.close()
      return pool.close()
    },
    destroy() {
      grpc.destroy()
      return pool.destroy()
    },
  }
}

/** The socket of an address; throws for a kind that there is not yet. */
export function socketPathOf(address: string): string {
  if (address.startsWith(SCHEME)) return address.slice(SCHEME.length)
  throw new TypeError(`Not the address of an instance: ${address}`)
}
