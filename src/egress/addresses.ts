// The addresses that requests for tenants may go to: public ones, and networks that the operator names. Every form of an
// address is judged after it was parsed, so no spelling matters.
import { isIP } from 'node:net'
import { machineAddresses } from '#base/hosts.ts'
import { parseSubnet, type Subnet } from '#base/subnets.ts'

/**
 * IPv4 networks that are not public (IANA special-purpose registry, RFC 6890), multicast and reserved ones. 168.63.129.16
 * is the platform of Azure, which gives the machine its settings.
 */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '168.63.129.16/32',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
/** Of IPv6 only global unicast is public: mapped, NAT64, link-local, unique local and multicast lie outside of it. */
const PUBLIC_6 = '2000::/3'
/** Within it: Teredo, ORCHID and others (2001::/23), documentation, 6to4, AS112. */
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

export interface AddressRule {
  /** False for a text that is no address. */
  permits(address: string, port: number): boolean
}

export type MachinePlaces = {
  /** Ports of the service itself, which may be asked at the addresses of this machine as by any other machine. */
  readonly servedPorts?: readonly number[]
  readonly machine?: () => readonly string[]
}

/**
 * `networks` are permitted although they are not public. Those of this machine are not although they may be public: other
 * programs of it may trust what comes from it.
 */
export function createAddressRule(
  networks: readonly string[],
  { servedPorts = [], machine = machineAddresses }: MachinePlaces = {},
): AddressRule {
  const named = subnets(networks)
  const public6 = subnets([PUBLIC_6])
  const not4 = subnets(NOT_PUBLIC_4)
  const not6 = subnets(NOT_PUBLIC_6)
  const isIn = (some: readonly Subnet[], address: string) =>
    some.some((subnet) => subnet.includes(address))
  return {
    permits(address, port) {
      const family = isIP(address)
      // A zone names an interface of this machine.
      if (family === 0 || address.includes('%')) return false
      if (isIn(named, address)) return true
      const isPublic =
        family === 4 ? !isIn(not4, address) : isIn(public6, address) && !isIn(not6, address)
      return isPublic && (servedPorts.includes(port) || !isIn(subnets(machine()), address))
    },
  }
}

const subnets = (texts: readonly string[]): Subnet[] =>
  texts.map((text) => {
    const subnet = parseSubnet(text)
    if (subnet === undefined) throw new TypeError(`Not a network: ${text}`)
    return subnet
  })
