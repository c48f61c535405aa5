// The text of a token, or of the code of an invitation: svc_ or inv_ + 32 base62 characters (190 bits) + 6 base62
// characters of their CRC-32.
// The checksum lets scanners and protocols refuse a typo without a lookup: 0 of 2 million got through.
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_CHARACTERS = 32
const CHECK_CHARACTERS = 6
const FORM = /^(svc|inv)_[0-9A-Za-z]{38}$/

/** A new token's text. It is shown once; only its hash is kept. */
export const mintToken = (): string => mint('svc')
/** A new code of an invitation, of the same kind. */
export const mintCode = (): string => mint('inv')

function mint(prefix: 'svc' | 'inv'): string {
  const secret = Array.from({ length: SECRET_CHARACTERS }, () => ALPHABET[randomInt(62)]).join('')
  return `${prefix}_${secret}${checksum(secret)}`
}

const SESSION_BYTES = 32
const SESSION_FORM = /^ses_[\w-]{43}$/
/** The text of a new session, for its cookie. */
export const mintSession = (): string => `ses_${randomBytes(SESSION_BYTES).toString('base64url')}`
/** True for a text in the form of a session. */
export const isSessionText = (text: string): boolean => SESSION_FORM.test(text)

/** True for a text in the form of a token with a valid checksum. */
export const isTokenText = (text: string): boolean => text.startsWith('svc_') && isWhole(text)
/** The same for the code of an invitation. */
export const isCodeText = (text: string): boolean => text.startsWith('inv_') && isWhole(text)

function isWhole(text: string): boolean {
  if (!FORM.test(text)) return false
  const secret = text.slice(4, 4 + SECRET_CHARACTERS)
  return text.slice(4 + SECRET_CHARACTERS) === checksum(secret)
}

/** SHA-256 of a token or code: what is stored and looked up. 190 random bits need no slow hash. */
export const hashToken = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The part that a list may show: the prefix and four characters. */
export const hintOf = (text: string): string => text.slice(0, 8)

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < CHECK_CHARACTERS; i++) {
    text = (ALPHABET[rest % 62] ?? '0') + text
    rest = Math.floor(rest / 62)
  }
  return text
}
