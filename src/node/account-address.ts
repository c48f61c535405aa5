// The addresses on loopback that code of accounts calls the service from: one for each account, so that limits by address
// are its own. The number of addresses is four million, so two accounts seldom share one.
import { createHash } from 'node:crypto'

/** Returns an address of 127.64.0.0/10. */
export function accountAddress(account: string): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(account).digest()
  return `127.${64 + (a % 64)}.${b}.${1 + (c % 254)}`
}

/** Returns true for an address, in dotted form, that accountAddress() may return. */
export function isAccountAddress(address: string): boolean {
  const [first, second] = address.split('.', 2).map(Number)
  return first === 127 && second !== undefined && second >= 64 && second < 128
}
