// Networks of IP addresses: `203.0.113.0/24`, `2001:db8::/32`, or an address alone.
import { BlockList, isIP } from 'node:net'

export type Subnet = {
  readonly address: string
  readonly bits: number
  readonly family: 4 | 6
  /** Whether an address, as bareAddress() has it, is in it. */
  includes(address: string): boolean
}

/** Undefined when the text is none. */
export function parseSubnet(text: string): Subnet | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const family = isIP(address)
  if ((family !== 4 && family !== 6) || rest.length > 0) return undefined
  const widest = family === 4 ? 32 : 128
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined
  const bits = length === undefined ? widest : Number(length)
  if (bits > widest) return undefined
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(address, bits, type)
  return { address, bits, family, includes: (one) => isIP(one) === family && list.check(one, type) }
}

/** An IPv4 address that a dual-stack listener gives as IPv6-mapped (RFC 4291 §2.5.5.2), as itself. */
export const bareAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
