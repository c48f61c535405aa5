// A connection from its first byte to its startup message: TLS as SSLRequest or at once, GSSAPI never, cancel requests.
// Sources: PostgreSQL 16, chapter 55.2; direct TLS as of PostgreSQL 17, chapter 54.2.10.
import type { Socket } from 'node:net'
import { TLSSocket, type SecureContext } from 'node:tls'
import { once } from 'node:events'
import { limitKeyUpdates } from '#base/limit-key-updates.ts'
import { readBytes, type ByteWait } from './read-bytes.ts'
import { startupRefusal } from './startup-options.ts'
import { CROWDED, CrowdedOut } from './strangers.ts'
import {
  CANCEL_REQUEST,
  GSS_REQUEST,
  int32,
  message,
  parseParameters,
  PROTOCOL_3,
  SSL_REQUEST,
  TYPE,
  violation,
  type FatalError,
} from '#wire/messages.ts'

/** A startup message is the largest that a stranger may send. */
const STARTUP_BYTES_MAX = 8192
/** The first byte of a record of TLS that belongs to its handshake. */
const TLS_RECORD = 0x16
const ALPN = 'postgresql'
const REQUEST_BYTES = 8
const RECORD_HEAD_BYTES = 5
/** Source: RFC 8446, section 5.1. */
const RECORD_BYTES_MAX = 16_384
/** A server's answer with its certificate has more; a HelloRetryRequest has 99. */
const HELLO_BYTES_MIN = 256
const CANCEL_KEY_BYTES = 8
/** The bits of a protocol's number that are its minor version. */
const MINOR = 0xffff

export type Greeting =
  | { readonly kind: 'cancel'; readonly key: Buffer }
  | {
      readonly kind: 'session'
      readonly socket: Socket
      readonly isEncrypted: boolean
      readonly parameters: Map<string, string>
    }

/** A refusal with words for the client, and the socket that the client reads by then. */
export class LoginRefusal extends Error {
  readonly socket: Socket
  readonly fatal: FatalError
  constructor(socket: Socket, fatal: FatalError) {
    super(fatal.message)
    this.socket = socket
    this.fatal = fatal
  }
}

/** For a login that made room while its client could read words. */
export const refuseCrowded =
  (socket: Socket) =>
  (error: unknown): never => {
    throw error instanceof CrowdedOut ? new LoginRefusal(socket, CROWDED) : error
  }

/** Rejects with a LoginRefusal, or with any other error where the client gets no answer. */
export async function greet(
  raw: Socket,
  context: SecureContext,
  waiting: ByteWait,
): Promise<Greeting> {
  let socket = raw
  let isEncrypted = false
  let isGssRefused = false
  for (;;) {
    const head = await readBytes(socket, REQUEST_BYTES, waiting).catch(refuseCrowded(socket))
    if (!isEncrypted && head[0] === TLS_RECORD) {
      socket.unshift(head)
      socket = await encrypt(socket, context, waiting)
      if ((socket as TLSSocket).alpnProtocol !== ALPN)
        throw new LoginRefusal(socket, violation(`direct TLS needs the ALPN protocol "${ALPN}"`))
      isEncrypted = true
      continue
    }
    const length = head.readInt32BE(0)
    const code = head.readInt32BE(4)
    if (code === SSL_REQUEST && length === REQUEST_BYTES && !isEncrypted) {
      // Bytes behind the request came before TLS did: somebody on the way may have put them there.
      if (socket.readableLength > 0)
        throw new LoginRefusal(socket, violation('there are unencrypted bytes behind SSLRequest'))
      socket.write('S')
      socket = await encrypt(socket, context, waiting)
      isEncrypted = true
    } else if (code === GSS_REQUEST && length === REQUEST_BYTES && !isEncrypted && !isGssRefused) {
      isGssRefused = true
      socket.write('N')
    } else if (code === CANCEL_REQUEST && length === REQUEST_BYTES + CANCEL_KEY_BYTES) {
      return { kind: 'cancel', key: await readBytes(socket, CANCEL_KEY_BYTES, waiting) }
    } else {
      const parameters = await startupOf(socket, { length, code }, waiting).catch(
        refuseCrowded(socket),
      )
      return { kind: 'session', socket, isEncrypted, parameters }
    }
  }
}

async function startupOf(
  socket: Socket,
  { length, code }: { readonly length: number; readonly code: number },
  waiting: ByteWait,
): Promise<Map<string, string>> {
  if (length < REQUEST_BYTES + 1 || length > STARTUP_BYTES_MAX)
    throw new LoginRefusal(socket, violation(`invalid length of startup packet: ${length}`))
  if (code >> 16 !== PROTOCOL_3 >> 16)
    throw new LoginRefusal(socket, {
      code: '0A000',
      message: `unsupported frontend protocol ${code >> 16}.${code & MINOR}: server supports 3.0`,
      hint: 'Use a client of PostgreSQL 7.4 or newer.',
    })
  const bytes = await readBytes(socket, length - REQUEST_BYTES, waiting)
  const parameters = parseParameters(bytes)
  if (parameters === undefined)
    throw new LoginRefusal(socket, violation('invalid startup packet layout'))
  const refusal = startupRefusal(parameters)
  if (refusal !== undefined) throw new LoginRefusal(socket, refusal)
  negotiate(socket, code & MINOR, parameters)
  return parameters
}

/** Tells a client of a newer minor version, or with options of one, that this is 3.0, and drops the options. */
function negotiate(socket: Socket, minor: number, parameters: Map<string, string>): void {
  const unknown = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'))
  for (const name of unknown) parameters.delete(name)
  if (minor > 0 || unknown.length > 0)
    socket.write(message(TYPE.negotiate, int32(PROTOCOL_3), int32(unknown.length), ...unknown))
}

async function encrypt(
  socket: Socket,
  secureContext: SecureContext,
  waiting: ByteWait,
): Promise<TLSSocket> {
  // A connection that never begins TLS costs no TLS state.
  const head = await readBytes(socket, RECORD_HEAD_BYTES, waiting)
  const length = head.readUInt16BE(3)
  if (head[0] !== TLS_RECORD || length === 0 || length > RECORD_BYTES_MAX)
    throw new RangeError(`a TLS record of ${length} bytes`)
  const hello = await readBytes(socket, length, waiting)
  socket.unshift(Buffer.concat([head, hello]))
  const secured = new TLSSocket(socket, {
    isServer: true,
    secureContext,
    ALPNProtocols: [ALPN],
  })
  secured.on('error', () => secured.destroy())
  limitKeyUpdates(secured, 'client')
  const secure = once(secured, 'secure', { signal: waiting.signal })
  const before = socket.bytesWritten
  // The client's first message is answered in the next tick: that takes the most CPU of all.
  process.nextTick(() => {
    waiting.mark()
    // After a HelloRetryRequest the second message is. Nothing but the keys tells when.
    if (socket.bytesWritten - before < HELLO_BYTES_MIN) secured.on('keylog', waiting.mark)
  })
  await secure
  return secured
}
