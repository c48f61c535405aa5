// A KeyUpdate of TLS 1.3 (RFC 8446, section 4.6.3) has 27 bytes, and takes the other side 13 to 20 µs of CPU. OpenSSL ends a
// connection behind 32 of them, but a byte of data begins a new count. A sender has a reason for a KeyUpdate behind 2²⁴
// records. OpenSSL names the new secret to keylog (draft-ietf-tls-keylogfile), the one call that tells of it, and of a new
// handshake of TLS 1.2. Our servers refuse such handshakes (tls-server.ts); as a client we would make them.
import type { TLSSocket } from 'node:tls'
import { Failure } from './errors.ts'

/** The side that is limited. */
type Sender = 'client' | 'server'

export const KEY_UPDATES_MAX = 8
/** Node has this for handshakes of TLS 1.2. */
const WINDOW_MS = 600_000
const LABELS: Readonly<Record<Sender, readonly Buffer[]>> = {
  client: [Buffer.from('CLIENT_TRAFFIC_SECRET_N ')],
  // A client that is asked to renegotiate does so: the line of TLS 1.2 comes for the first handshake too.
  server: [Buffer.from('SERVER_TRAFFIC_SECRET_N '), Buffer.from('CLIENT_RANDOM ')],
}

type Handle = { onread: () => void; destroySSL(): void }

/** Ends the other side of TLS when it renews its keys all the time; a server also when it sends tickets all the time. */
export function limitKeyUpdates(secured: TLSSocket, sender: Sender): void {
  let untilMs = 0
  let updates = 0
  const count = () => {
    const nowMs = performance.now()
    if (nowMs > untilMs) {
      untilMs = nowMs + WINDOW_MS
      updates = 0
    }
    if (++updates > KEY_UPDATES_MAX) end(secured)
  }
  const labels = LABELS[sender]
  secured.on('keylog', (line: Buffer) => {
    if (labels.some((label) => line.subarray(0, label.length).equals(label))) count()
  })
  // Servers send one to four. A ticket has 40 bytes and takes a client 9 µs.
  if (sender === 'server') secured.on('session', count)
}

function end(secured: TLSSocket): void {
  const handle = Reflect.get(secured, '_handle') as Handle | null
  secured.destroy(new Failure('too many KeyUpdates of TLS'))
  // A read may have 64 KiB, and all would be decrypted. OpenSSL is in the middle of a record now, but not at a piece of data.
  if (handle !== null) handle.onread = () => handle.destroySSL()
}
