// The connection of HTTP/2 to one running instance, without TLS (RFC 9113, 3.3): made by the first call of gRPC, and made
// again after it has ended.
import { connect as connectSocket } from 'node:net'
import type { ClientHttp2Session } from 'node:http2'
import { NotAnswered } from '#http-client/not-answered.ts'

/** Nothing moves on it, and no call is open. */
const IDLE_MS = 1000
/** Until the first frame: a peer that does not speak HTTP/2 may wait for more. */
const BEGIN_MS = 5000
const SETTINGS = { enablePush: false, maxHeaderListSize: 32_768 }

export interface GrpcSessions {
  /** Resolves with a connection at which HTTP/2 is spoken. Throws NotAnswered where there is none. */
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
    // A call that is open gets the error too.
    session.on('error', () => undefined)
    session.on('timeout', () => session.close())
    session.setTimeout(BEGIN_MS)
    await new Promise<void>((resolve, reject) => {
      let isTaken = false
      session.once('connect', () => (isTaken = true))
      session.once('remoteSettings', () => resolve())
      session.once('close', () =>
        reject(
          isTaken ? new TypeError('HTTP/2 is not spoken') : new NotAnswered({ isReset: false }),
        ),
      )
    })
    session.setTimeout(IDLE_MS)
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
