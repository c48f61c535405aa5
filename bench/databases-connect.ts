// A client that makes a new connection for each query and does little else, so that its own CPU is a small part. It
// keeps the stretched password, which takes libpq 5 ms at each login. It checks no proof and no certificate.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectNet, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import type { DatabaseTarget } from './databases-targets.ts'

const PROTOCOL = 196_608
const SSL_REQUEST = 80_877_103
/** Debian's PgBouncer knows no X25519MLKEM768, which Node asks for first: the same key exchange for both. */
const EXCHANGE = 'X25519:P-256'
const HEAD_BYTES = 5
const KEY_BYTES = 32
/** The requests of authentication: PostgreSQL 16, chapter 55.7. */
const SASL = 10
const SASL_CONTINUE = 11

/** Clients that connect, ask once and leave, for so long; the number of queries that were answered. */
export async function connectAgain(
  target: DatabaseTarget,
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
): Promise<number> {
  const untilMs = performance.now() + seconds * 1000
  let answered = 0
  const client = async () => {
    for (; performance.now() < untilMs; answered++) await askOnce(target)
  }
  await Promise.all(Array.from({ length: clients }, client))
  return answered
}

/** A connection with one query. */
async function askOnce(target: DatabaseTarget): Promise<void> {
  const socket = await open(target)
  try {
    const next = messagesOf(socket)
    const parameters = `user\0${target.user}\0database\0${target.database}\0\0`
    socket.write(framed(Buffer.concat([int32(PROTOCOL), Buffer.from(parameters)])))
    await ready(socket, next, target.password)
    socket.write(message('Q', 'select 1\0'))
    await ready(socket, next, target.password)
    socket.end(message('X', ''))
  } finally {
    socket.destroySoon()
  }
}

async function open({ host, port, isTls }: DatabaseTarget): Promise<Socket> {
  const isPath = host.startsWith('/')
  const socket = connectNet(isPath ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port })
  await once(socket, 'connect')
  socket.setNoDelay()
  if (!isTls) return socket
  socket.write(framed(int32(SSL_REQUEST)))
  await once(socket, 'data')
  const secure = connectTls({ socket, rejectUnauthorized: false, ecdhCurve: EXCHANGE })
  await once(secure, 'secureConnect')
  return secure
}

type Message = { readonly type: string; readonly body: Buffer }

/** Reads to the end of a login or a query, with the password where it is asked for. */
async function ready(socket: Socket, next: () => Promise<Message>, password: string) {
  const bare = `n=,r=${randomBytes(18).toString('base64')}`
  for (;;) {
    const { type, body } = await next()
    if (type === 'Z') return
    if (type === 'E') throw new Error(body.toString().replaceAll('\0', ' '))
    const request = type === 'R' ? body.readInt32BE(0) : undefined
    if (request === SASL) {
      const first = Buffer.from(`n,,${bare}`)
      const parts = [Buffer.from('SCRAM-SHA-256\0'), int32(first.length), first]
      socket.write(message('p', Buffer.concat(parts)))
    } else if (request === SASL_CONTINUE)
      socket.write(message('p', proofOf(password, bare, body.subarray(4).toString())))
  }
}

const kept = new Map<string, { readonly clientKey: Buffer; readonly storedKey: Buffer }>()

/** The client's last message of SCRAM: RFC 5802, section 3. */
function proofOf(password: string, bare: string, first: string): string {
  const [, nonce = '', salt = '', iterations] = /^r=(.+),s=(.+),i=(\d+)$/.exec(first) ?? []
  let keys = kept.get(salt)
  if (keys === undefined) {
    const bytes = Buffer.from(salt, 'base64')
    const salted = pbkdf2Sync(password, bytes, Number(iterations), KEY_BYTES, 'sha256')
    const clientKey = hmac(salted, 'Client Key')
    keys = { clientKey, storedKey: createHash('sha256').update(clientKey).digest() }
    kept.set(salt, keys)
  }
  const unproven = `c=biws,r=${nonce}`
  const signature = hmac(keys.storedKey, `${bare},${first},${unproven}`)
  const proof = keys.clientKey.map((byte, nth) => byte ^ (signature[nth] ?? 0))
  return `${unproven},p=${Buffer.from(proof).toString('base64')}`
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const framed = (body: Buffer): Buffer => Buffer.concat([int32(body.length + 4), body])
const message = (type: string, body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(type), framed(Buffer.from(body))])

/** The messages of a server, one after the other. */
function messagesOf(socket: Socket): () => Promise<Message> {
  let bytes = Buffer.alloc(0)
  let arrived = Promise.withResolvers<void>()
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    arrived.resolve()
  })
  socket.on('error', (error) => arrived.reject(error))
  socket.on('end', () => arrived.reject(new Error('the server left')))
  arrived.promise.catch(() => undefined)
  return async () => {
    while (bytes.length < HEAD_BYTES || bytes.length < 1 + bytes.readInt32BE(1)) {
      arrived = Promise.withResolvers()
      arrived.promise.catch(() => undefined)
      await arrived.promise
    }
    const end = 1 + bytes.readInt32BE(1)
    const body = bytes.subarray(HEAD_BYTES, end)
    const type = String.fromCharCode(bytes[0] ?? 0)
    bytes = bytes.subarray(end)
    return { type, body }
  }
}
