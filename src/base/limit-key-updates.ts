// A KeyUpdate of TLS 1.3 (RFC 8446, section 4.6.3) has 27 bytes, and takes the server 20 µs of CPU. OpenSSL ends a connection
// behind 32 of them, but a byte of data begins a new count. A sender has a reason for one
// behind 2²⁴ records. OpenSSL names the new secret to keylog (draft-ietf-tls-keylogfile), the one call that tells of it.
import type { TLSSocket } from 'node:tls'
import { Failure } from './errors.ts'

export const KEY_UPDATES_MAX = 8
/** Node has this for handshakes of TLS 1.2. */
const WINDOW_MS = 600_000
const LABEL = Buffer.from('CLIENT_TRAFFIC_SECRET_N ')

type Handle = { onread: () => void; destroySSL(): void }

/** Ends a client of TLS that renews its keys all the time. */
export function limitKeyUpdates(secured: TLSSocket): void {
  let untilMs = 0
  let updates = 0
  secured.on('keylog', (line: Buffer) => {
    if (!line.subarray(0, LABEL.length).equals(LABEL)) return
    const nowMs = performance.now()
    if (nowMs > untilMs) {
      untilMs = nowMs + WINDOW_MS
      updates = 0
    }
    if (++updates > KEY_UPDATES_MAX) end(secured)
  })
}

function end(secured: TLSSocket): void {
  const handle = Reflect.get(secured, '_handle') as Handle | null
  secured.destroy(new Failure('too many KeyUpdates of TLS'))
  // A read may have 64 KiB, and all would be decrypted. OpenSSL is in the middle of a record now, but not at a piece of data.
  if (handle !== null) handle.onread = () => handle.destroySSL()
}
