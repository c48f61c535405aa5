// A client of TLS 1.3 that makes its records by hand behind the handshake, for tests: Node sends no KeyUpdate.
import { createCipheriv, createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'

const HANDSHAKE = 22
const DATA = 23
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0])
const KEY_BYTES = 16
const NONCE_BYTES = 12
const SECRET_BYTES = 32
const UPDATES_IN_A_ROW = 32

export interface SealedClient {
  /** A record with data. */
  data(bytes: Buffer): Buffer
  /** A record of a KeyUpdate: the next records have new keys. */
  keyUpdate(): Buffer
  /** The server's answers. */
  readonly answers: TLSSocket
}

/** Speaks TLS on a socket, for that protocol of ALPN; the caller writes the records from then on. */
export async function sealedClient(socket: Socket, protocol: string): Promise<SealedClient> {
  const client = connect({
    socket,
    servername: 'localhost',
    rejectUnauthorized: false,
    ALPNProtocols: [protocol],
    minVersion: 'TLSv1.3',
    ciphers: 'TLS_AES_128_GCM_SHA256',
  }).on('error', () => undefined)
  let secret = Buffer.alloc(0)
  client.on('keylog', (line: Buffer) => {
    const [label, , hex = ''] = String(line).trim().split(' ')
    if (label === 'CLIENT_TRAFFIC_SECRET_0') secret = Buffer.from(hex, 'hex')
  })
  await once(client, 'secureConnect')
  // The end of the handshake is sent behind this event.
  await turn()
  let number = 0
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
    keyUpdate() {
      const record = seal(HANDSHAKE, KEY_UPDATE)
      secret = expand(secret, 'traffic upd', SECRET_BYTES)
      number = 0
      return record
    },
    answers: client,
  }
}

/** Each byte behind as many KeyUpdates as OpenSSL takes without data. */
export const behindKeyUpdates = (client: SealedClient, bytes: Buffer): Buffer[] =>
  Array.from(bytes, (byte) =>
    Buffer.concat([
      ...Array.from({ length: UPDATES_IN_A_ROW }, () => client.keyUpdate()),
      client.data(Buffer.from([byte])),
    ]),
  )

/** HKDF-Expand-Label of RFC 8446, section 7.1, without context. */
function expand(secret: Buffer, label: string, bytes: number): Buffer<ArrayBuffer> {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([0, bytes, name.length]), name, Buffer.from([0, 1])])
  return Buffer.from(createHmac('sha256', secret).update(info).digest().subarray(0, bytes))
}
