// Ends of TLS 1.3 that make their records by hand behind the handshake, for tests: Node sends no KeyUpdate.
import { createCipheriv, createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { connect, createSecureContext, TLSSocket } from 'node:tls'

const HANDSHAKE = 22
const DATA = 23
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0])
/** A NewSessionTicket: a lifetime of an hour, no nonce, a ticket of one byte, no extension. */
const TICKET = Buffer.from([4, 0, 0, 14, 0, 0, 14, 16, 0, 0, 0, 0, 0, 0, 1, 7, 0, 0])
const VERSION_AND_SUITE = { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const
/** OpenSSL sends so many with the end of its handshake. */
const TICKETS_OF_SERVER = 2
const KEY_BYTES = 16
const NONCE_BYTES = 12
const SECRET_BYTES = 32
const UPDATES_IN_A_ROW = 32

export interface SealedRecords {
  /** A record with data. */
  data(bytes: Buffer): Buffer
  /** A record of a KeyUpdate: the next records have new keys. */
  keyUpdate(): Buffer
  /** A record of a ticket for a later connection, which a server may send. */
  ticket(): Buffer
}

/** The bytes of the other side are read from `peer`. */
export type SealedEnd = SealedRecords & { readonly peer: TLSSocket }

/** Speaks TLS on a socket, for that protocol of ALPN; the caller writes the records from then on. */
export async function sealedClient(socket: Socket, protocol: string): Promise<SealedEnd> {
  const client = connect({
    socket,
    servername: 'localhost',
    rejectUnauthorized: false,
    ALPNProtocols: [protocol],
    ...VERSION_AND_SUITE,
  }).on('error', () => undefined)
  const secret = secretOf(client, 'CLIENT_TRAFFIC_SECRET_0')
  await once(client, 'secureConnect')
  // The end of the handshake is sent behind this event.
  await turn()
  return { ...records(secret(), 0), peer: client }
}

/** The same for a server, on a socket that it has taken. */
export async function sealedServer(
  socket: Socket,
  certificate: { readonly cert: string; readonly key: string },
): Promise<SealedEnd> {
  const secureContext = createSecureContext({ ...certificate, ...VERSION_AND_SUITE })
  const server = new TLSSocket(socket, { isServer: true, secureContext })
  server.on('error', () => undefined)
  const secret = secretOf(server, 'SERVER_TRAFFIC_SECRET_0')
  await once(server, 'secure')
  await turn()
  return { ...records(secret(), TICKETS_OF_SERVER), peer: server }
}

function secretOf(secured: TLSSocket, name: string): () => Buffer {
  let secret = Buffer.alloc(0)
  secured.on('keylog', (line: Buffer) => {
    const [label, , hex = ''] = String(line).trim().split(' ')
    if (label === name) secret = Buffer.from(hex, 'hex')
  })
  return () => secret
}

/** Of the first secret for data, under which `sent` records have gone already. */
function records(first: Buffer, sent: number): SealedRecords {
  let secret = first
  let number = sent
  const seal = (type: number, bytes: Buffer): Buffer => {
    const nonce = expand(secret, 'iv', NONCE_BYTES)
    nonce.writeUInt32BE((nonce.readUInt32BE(NONCE_BYTES - 4) ^ number++) >>> 0, NONCE_BYTES - 4)
    const head = Buffer.from([DATA, 3, 3, 0, 0])
    head.writeUInt16BE(bytes.length + 1 + 16, 3)
    const cipher = createCipheriv('aes-128-gcm', expand(secret, 'key', KEY_BYTES), nonce)
    cipher.setAAD(head)
    const sealed = cipher.update(Buffer.concat([bytes, Buffer.from([type])]))
    return Buffer.concat([head, sealed, cipher.final(), cipher.getAuthTag()])
  }
  return {
    data: (bytes) => seal(DATA, bytes),
    ticket: () => seal(HANDSHAKE, TICKET),
    keyUpdate() {
      const record = seal(HANDSHAKE, KEY_UPDATE)
      secret = expand(secret, 'traffic upd', SECRET_BYTES)
      number = 0
      return record
    },
  }
}

/** Each byte behind as many KeyUpdates as OpenSSL takes without data. */
export const behindKeyUpdates = (end: SealedRecords, bytes: Buffer): Buffer[] =>
  Array.from(bytes, (byte) =>
    Buffer.concat([
      ...Array.from({ length: UPDATES_IN_A_ROW }, () => end.keyUpdate()),
      end.data(Buffer.from([byte])),
    ]),
  )

/** HKDF-Expand-Label of RFC 8446, section 7.1, without context. */
function expand(secret: Buffer, label: string, bytes: number): Buffer<ArrayBuffer> {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([0, bytes, name.length]), name, Buffer.from([0, 1])])
  return Buffer.from(createHmac('sha256', secret).update(info).digest().subarray(0, bytes))
}
