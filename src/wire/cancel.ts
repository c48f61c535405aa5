// Asks a server to cancel what runs on a connection. The server does not answer, and takes such requests without TLS
// and without a password: the key is the proof.
import { createConnection } from 'node:net'
import { cancelMessage } from './messages.ts'

export type ServerPlace =
  | { readonly path: string }
  | { readonly host: string; readonly port: number }

const CANCEL_MS_MAX = 5000

/** `key` is the body of BackendKeyData. A server that cannot be reached ends the work by its own limit. */
export function requestCancel(place: ServerPlace, key: Buffer): void {
  const socket = createConnection({ ...place, timeout: CANCEL_MS_MAX })
  socket.on('error', () => undefined)
  socket.on('timeout', () => socket.destroy())
  socket.resume()
  socket.end(cancelMessage(key))
}
