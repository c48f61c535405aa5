// The connection of HTTP/2 to one running instance, without TLS (RFC 9113, 3.3): made by the first call of gRPC, and made
// again after it has ended.
import { connect as connectSocket } from 'node:net'
import type { ClientHttp2Session } from 'node:http2'
import { NotAnswered } from '#ingress/not-answered.ts'

/** Nothing moves on it, and no call is open. */
const IDLE_MS = 1000
const SETTINGS = { enablePush: false, maxHeaderListSize: 32_768 }

export interface GrpcSessions {
  /** Resolves with a connection that is open. Throws NotAnswered where there is none. */
  open(): Promise<ClientHttp2Session>
  /** Ends it after its last call. */
  close(): void
  destroy(): void
}

export function createGrpcSessions(socketPath: string): GrpcSessions {
  let current: ClientHttp2Session | undefined
  let opening: Promise<ClientHttp2Session> | undefined
  const connect = async (): Promise<ClientHttp2Session> => {
    // Loaded only where gRPC is called.
    const http2 = await import('node:http2')
    const session = http2.connect('http://instance', {
      createConnection: () => connectSocket(socketPath),
      settings: SETTINGS,
    })
    await new Promise<void>((resolve, reject) => {
      session.once('connect', () => resolve())
      session.once('error', () => reject(new NotAnswered(false)))
      session.once('close', () => reject(new NotAnswered(false)))
    })
    // A call that is open gets the error too.
    session.on('error', () => undefined)
    session.setTimeout(IDLE_MS, () => session.close())
    return session
  }
  return {
    async open() {
      if (current !== undefined && !current.closed && !current.destroyed) return current
      opening ??= connect().finally(() => (opening = undefined))
      return (current = await opening)
    },
    close: () => current?.close(),
    destroy: () => current?.destroy(),
  }
}
