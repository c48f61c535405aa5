// Encryption at rest of other parties' secrets that must be used again, such as the key of an upstream. AES-256-GCM under
// a key of the data folder: a dump of the state, or the administrator of an external state, reveals nothing.
// `purpose` is authenticated: a text cannot be moved to another use.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { baseFault } from './own-errors.ts'
import { Secret } from './log.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'e1.'

/** A new key as text, for `encrypt` and `decrypt`. */
export const newEncryptionKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

/** `e1.` and, in base64url, nonce ‖ ciphertext ‖ tag. A random nonce is safe for 2³² texts of a key. */
export function encrypt(plain: Secret, key: Secret, purpose: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, bytesOf(key), nonce).setAAD(Buffer.from(purpose))
  const body = [cipher.update(plain.reveal(), 'utf8'), cipher.final()]
  return VERSION + Buffer.concat([nonce, ...body, cipher.getAuthTag()]).toString('base64url')
}

/** Throws `undecipherable` for another key, another purpose, or a changed text. */
export function decrypt(text: string, key: Secret, purpose: string): Secret {
  try {
    if (!text.startsWith(VERSION)) throw new RangeError('another form')
    const bytes = Buffer.from(text.slice(VERSION.length), 'base64url')
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(CIPHER, bytesOf(key), nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
    return new Secret(Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8'))
  } catch (cause) {
    throw baseFault('undecipherable', `Could not decrypt a secret: ${purpose}`, { cause })
  }
}

const bytesOf = (key: Secret) => Buffer.from(key.reveal(), 'base64url')
