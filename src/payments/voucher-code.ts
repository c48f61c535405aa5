// Codes of vouchers: 120 random bits as 24 characters that people can type. The state has a keyed hash of each, so a
// dump of the state redeems nothing.
import { createHmac, randomBytes } from 'node:crypto'

/** Crockford's base32: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 24
const GROUP = /.{4}(?=.)/g

export const newVoucherCode = (): string =>
  [...randomBytes(LENGTH)]
    .map((byte) => ALPHABET[byte & 31])
    .join('')
    .replaceAll(GROUP, '$&-')

/** The hash of a code as somebody typed it: in any case, with dashes or without. */
export function voucherHash(code: string, secret: string): Buffer {
  const key = createHmac('sha256', secret).update('ergon vouchers').digest()
  const plain = code.toLowerCase().replaceAll('-', '').replaceAll('o', '0').replaceAll(/[il]/g, '1')
  return createHmac('sha256', key).update(plain).digest()
}
