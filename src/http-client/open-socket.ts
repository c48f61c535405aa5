// A socket to a server: of its socket's path, of TCP, or of TLS.
import { connect, isIP, type OnReadOpts, type Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { limitKeyUpdates } from '#base/limit-key-updates.ts'

export type ServerPlace =
  | { readonly path: string }
  | {
      readonly host: string
      readonly port: number
      /** Undefined: without TLS. */
      readonly tls?: Pick<ConnectionOptions, 'ca'>
    }

/** A peer that is gone without a word is noticed. */
const KEEP_ALIVE_MS = 60_000

/** `connected` is called when bytes may flow: with TLS, after its handshake and the check of the certificate. */
export function openSocket(place: ServerPlace, onread: OnReadOpts, connected: () => void): Socket {
  if ('path' in place) return connect({ path: place.path, onread }, connected)
  const { host, port, tls } = place
  const tcp = { host, port, onread }
  const socket =
    tls === undefined ? connect(tcp, connected) : openTls({ ...tls, ...tcp }, connected)
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS)
}

/** Loaded by a process that speaks TLS alone. */
function openTls(
  options: ConnectionOptions & { readonly host: string },
  connected: () => void,
): Socket {
  const { host } = options
  const socket = process.getBuiltinModule('node:tls').connect(
    {
      ...options,
      // No address is a name there (RFC 6066, 3).
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
    },
    connected,
  )
  limitKeyUpdates(socket, 'server')
  return socket
}
