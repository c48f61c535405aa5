// Codes of vouchers: 120 bits that nobody can guess as 24 characters that people can type. The state has a keyed hash of each, so a
// dump of the state redeems nothing.
import { createHmac, randomUUID } from 'node:crypto'

/** Crockford's base32: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 24
const GROUP = /.{4}(?=.)/g

/**
 * Codes of vouchers by their ids. The same `key` and secret give the same codes again, so that a lost answer can be
 * repeated though no code is kept; without a key nobody can make them again.
 */
export function voucherCodes(secret: string, key: string = randomUUID()): (id: string) => string {
  const own = createHmac('sha256', keyOf(secret, 'ergon voucher codes')).update(key).digest()
  return (id) =>
    [...createHmac('sha256', own).update(id).digest().subarray(0, LENGTH)]
      .map((byte) => ALPHABET[byte & 31])
      .join('')
      .replaceAll(GROUP, '$&-')
}

/** The hash of a code as somebody typed it: in any case, with dashes or without. */
export function voucherHash(code: string, secret: string): Buffer {
  const plain = code.toLowerCase().replaceAll('-', '').replaceAll('o', '0').replaceAll(/[il]/g, '1')
  return createHmac('sha256', keyOf(secret, 'ergon vouchers')).update(plain).digest()
}

const keyOf = (secret: string, use: string): Buffer =>
  createHmac('sha256', secret).update(use).digest()
