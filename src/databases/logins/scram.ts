// SCRAM-SHA-256 at the side of the server: verifiers, and the exchange of a login. Sources: RFC 5802, RFC 7677, and
// PostgreSQL 16, chapter 55.3.1.
import {
  createHmac,
  createSecretKey,
  hash as hashOf,
  pbkdf2,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'

/** The server's half of a password, from which nobody can compute the password. */
export type Verifier = {
  readonly iterations: number
  readonly salt: Buffer
  // An HMAC with a key that OpenSSL has already takes 2 µs, with bytes 10.
  readonly storedKey: KeyObject
  readonly serverKey: KeyObject
}

/** Some drivers refuse fewer. */
const ITERATIONS = 4096
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 18
const stretch = promisify(pbkdf2)

const hmac = (key: Buffer | KeyObject, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()
const hash = (bytes: Buffer): Buffer => hashOf('sha256', bytes, 'buffer')

/** The verifier of a password in ASCII, which SASLprep leaves as it is. */
export async function makeVerifier(password: string, salt = randomBytes(SALT_BYTES)) {
  const salted = await stretch(password, salt, ITERATIONS, KEY_BYTES, 'sha256')
  const storedKey = createSecretKey(hash(hmac(salted, 'Client Key')))
  const serverKey = createSecretKey(hmac(salted, 'Server Key'))
  return { iterations: ITERATIONS, salt, storedKey, serverKey }
}

/** A verifier as PostgreSQL writes it. */
export const verifierText = ({ iterations, salt, storedKey, serverKey }: Verifier): string =>
  `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${keyText(storedKey)}:${keyText(serverKey)}`

const keyText = (key: KeyObject): string => key.export().toString('base64')

const VERIFIER = /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/

/** Throws a TypeError for another text. */
export function parseVerifier(text: string): Verifier {
  const [, iterations, salt, storedKey, serverKey] = VERIFIER.exec(text) ?? []
  if (salt === undefined || storedKey === undefined || serverKey === undefined)
    throw new TypeError('Not a verifier of SCRAM-SHA-256')
  const bytes = (part: string) => Buffer.from(part, 'base64')
  return {
    iterations: Number(iterations),
    salt: bytes(salt),
    storedKey: createSecretKey(bytes(storedKey)),
    serverKey: createSecretKey(bytes(serverKey)),
  }
}

/**
 * A verifier that no password matches, the same at each login of a name: a login of an unknown name looks like one
 * with a wrong password.
 */
export const decoyVerifier = (secret: Buffer, name: string): Verifier => ({
  iterations: ITERATIONS,
  salt: hmac(secret, `salt ${name}`).subarray(0, SALT_BYTES),
  storedKey: createSecretKey(randomBytes(KEY_BYTES)),
  serverKey: createSecretKey(randomBytes(KEY_BYTES)),
})

export const SCRAM = 'SCRAM-SHA-256'
export const SCRAM_PLUS = 'SCRAM-SHA-256-PLUS'

export interface ScramServer {
  /** The answer to the client's first message. Throws a ScramFault. */
  first(mechanism: string, text: string): string
  /** The answer to the client's last message. Throws a ScramFault for a wrong password too. */
  last(text: string): string
}

/** Why a login failed: the client broke the protocol, or the password is wrong. */
export class ScramFault extends Error {
  readonly isWrongPassword: boolean
  constructor(message: string, isWrongPassword = false) {
    super(message)
    this.isWrongPassword = isWrongPassword
  }
}

const FIRST = /^(n|y|p=([^,]+)),,((?:n=[^,]*),r=([\x21-\x2b\x2d-\x7e]+))$/
const LAST = /^(c=([A-Za-z0-9+/=]+),r=([\x21-\x2b\x2d-\x7e]+)),p=([A-Za-z0-9+/=]+)$/

/**
 * One login. `channel` is the binding data of tls-server-end-point (RFC 5929), undefined without TLS; the binding is
 * offered where there is one.
 */
export function createScramServer(verifier: Verifier, channel: Buffer | undefined): ScramServer {
  let header = ''
  let nonce = ''
  let exchanged = ''
  return {
    first(mechanism, text) {
      const [, flag, binding, bare, clientNonce] = FIRST.exec(text) ?? []
      if (flag === undefined || bare === undefined || clientNonce === undefined)
        throw new ScramFault('the first message of SCRAM is malformed')
      const isBound = mechanism === SCRAM_PLUS
      if (isBound !== (binding !== undefined) || (isBound && channel === undefined))
        throw new ScramFault('the mechanism and the channel binding do not fit')
      if (isBound && binding !== 'tls-server-end-point')
        throw new ScramFault(`the channel binding ${binding} is not known`)
      // The client has channel binding and believes that this server has not: somebody removed the offer.
      if (flag === 'y' && channel !== undefined)
        throw new ScramFault('the offer of channel binding did not arrive')
      header = `${flag},,`
      nonce = clientNonce + randomBytes(NONCE_BYTES).toString('base64')
      const { salt, iterations } = verifier
      const answer = `r=${nonce},s=${salt.toString('base64')},i=${iterations}`
      exchanged = `${bare},${answer}`
      return answer
    },
    last(text) {
      const [, unproven, bound, echoed, proof] = LAST.exec(text) ?? []
      if (unproven === undefined || bound === undefined || proof === undefined)
        throw new ScramFault('the last message of SCRAM is malformed')
      if (nonce === '' || echoed !== nonce) throw new ScramFault('the nonce of SCRAM differs')
      const data = header.startsWith('p=') ? (channel ?? Buffer.alloc(0)) : Buffer.alloc(0)
      if (bound !== Buffer.concat([Buffer.from(header), data]).toString('base64'))
        throw new ScramFault('the channel binding differs')
      const all = `${exchanged},${unproven}`
      const given = Buffer.from(proof, 'base64')
      const signature = hmac(verifier.storedKey, all)
      if (given.length !== KEY_BYTES) throw new ScramFault('the proof of SCRAM is malformed')
      const clientKey = Buffer.from(given.map((byte, place) => byte ^ (signature[place] ?? 0)))
      if (!timingSafeEqual(hash(clientKey), verifier.storedKey.export()))
        throw new ScramFault('the password is wrong', true)
      return `v=${hmac(verifier.serverKey, all).toString('base64')}`
    },
  }
}
