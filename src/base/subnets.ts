// Networks of IP addresses: `203.0.113.0/24`, `2001:db8::/32`, or an address alone.
import { isIP } from 'node:net'

export type Subnet = {
  readonly address: string
  readonly bits: number
  readonly family: 4 | 6
  /** True when the address, in the form of bareAddress(), is in the subnet. */
  includes(address: string): boolean
}

type Family = Subnet['family']

/** Of the numbers that an address is written as. */
const BITS = { 4: 8, 6: 16 } as const

/** Undefined when the text is none. */
export function parseSubnet(text: string): Subnet | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const family = isIP(address)
  if ((family !== 4 && family !== 6) || rest.length > 0) return undefined
  const widest = family === 4 ? 32 : 128
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined
  const bits = length === undefined ? widest : Number(length)
  if (bits > widest) return undefined
  const numbers = numbersOf(address, family)
  return {
    address,
    bits,
    family,
    includes: (one) => isIP(one) === family && isIn({ numbers, bits, family }, one),
  }
}

type Network = Pick<Subnet, 'bits' | 'family'> & { readonly numbers: readonly number[] }

/** Not by Node's BlockList: to build one takes 6 µs, and a policy may name 2000 networks. */
function isIn({ numbers, bits, family }: Network, address: string): boolean {
  const others = numbersOf(address, family)
  const width = BITS[family]
  for (let at = 0; at * width < bits; at++) {
    const free = Math.max(0, (at + 1) * width - bits)
    if (Number(numbers[at]) >> free !== Number(others[at]) >> free) return false
  }
  return true
}

/** 4 bytes, or 8 words of 16 bits, of a text that isIP() accepts. */
const numbersOf = (address: string, family: Family): readonly number[] =>
  family === 4 ? bytesOf(address) : wordsOf(address)

const bytesOf = (text: string): number[] => text.split('.').map(Number)

const ZEROS = [0, 0, 0, 0, 0, 0, 0, 0]
const [COLON, DOT, PERCENT, NINE] = [58, 46, 37, 57]

/**
 * Digit by digit: to split it takes four times as long. The last two words may be written as an IPv4 address
 * is (RFC 4291 §2.2); a zone (`fe80::1%eth0`) is no part of the address (RFC 4007 §11).
 */
function wordsOf(address: string): readonly number[] {
  const words: number[] = []
  let gap = 0
  let word = 0
  let digits = 0
  for (let at = 0; at < address.length; at++) {
    const code = address.charCodeAt(at)
    if (code === PERCENT) break
    if (code === DOT) {
      const [a = 0, b = 0, c = 0, d = 0] = bytesOf(address.slice(at - digits).replace(/%.*/, ''))
      words.push(a * 256 + b)
      word = c * 256 + d
      break
    }
    if (code === COLON) {
      if (digits > 0) words.push(word)
      if (address.charCodeAt(at + 1) === COLON) gap = words.length
      word = digits = 0
    } else {
      word = word * 16 + (code <= NINE ? code - 48 : (code | 32) - 87)
      digits++
    }
  }
  if (digits > 0) words.push(word)
  words.splice(gap, 0, ...ZEROS.slice(words.length))
  return words
}

/** An IPv4 address that a dual-stack listener gives as IPv6-mapped (RFC 4291 §2.5.5.2), as itself. */
export const bareAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** The first half of an address of version 6: a client has all of the other half. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = ''] = address.split('::')
  return [...head.split(':'), '', '', '', ''].slice(0, 4).join(':')
}

/** The bits that one network has at most: what a provider gives to a customer (RFC 6177), and the least that is routed. */
const BLOCK_BITS = { 4: 24, 6: 48 } as const

/**
 * The network of an address that a limit counts for, where a caller may have many addresses: `203.0.113.0/24`,
 * `2001:db8:1::/48`. Other text is a network of its own.
 */
export function blockOf(address: string): string {
  const bare = bareAddress(address)
  const family = isIP(bare)
  if (family !== 4 && family !== 6) return bare
  const bits = BLOCK_BITS[family]
  const [one, two, three] = numbersOf(bare, family)
  return family === 4
    ? `${one}.${two}.${three}.0/${bits}`
    : `${[one, two, three].map((word) => Number(word).toString(16)).join(':')}::/${bits}`
}
