// The words by which the proxy knows whose cell a connection comes from. Pid 1 of the cell says them; its program can
// neither read nor make them.
import { createHmac, timingSafeEqual } from 'node:crypto'

export type Tenant = { readonly cell: string; readonly account: string }

export const makeTicket = (key: string, { cell, account }: Tenant): string =>
  `${cell} ${account} ${macOf(key, cell, account)}`

/** Undefined for words that are not ours. */
export function readTicket(key: string, words: readonly string[]): Tenant | undefined {
  const [cell = '', account = '', mac = '', ...rest] = words
  const [expected, given] = [Buffer.from(macOf(key, cell, account)), Buffer.from(mac)]
  if (rest.length > 0 || given.length !== expected.length) return undefined
  return timingSafeEqual(given, expected) ? { cell, account } : undefined
}

const macOf = (key: string, cell: string, account: string): string =>
  createHmac('sha256', key).update(`${cell} ${account}`).digest('base64url')
