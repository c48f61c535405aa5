// Connections of tenants to where they ask for: to the service's own addresses as they are, to all others where the rule of
// addresses permits.
import type { Socket } from 'node:net'
import { createAddressRule, type AddressRule, type MachinePlaces } from '#egress/addresses.ts'
import { connectChecked, connectTo, NotPermitted } from '#egress/checked-socket.ts'
import type { Resolve } from '#egress/resolve.ts'
import { accountAddress } from '#node/account-address.ts'
import type { OwnAddress } from '#node/own-addresses.ts'

export type Destination = {
  /** In lower case, without brackets and without a final dot. */
  readonly hostname: string
  readonly port: number
}

export type Reach = (
  to: Destination,
  by: { readonly account: string; readonly signal: AbortSignal },
) => Promise<Socket>

/** Mail between servers: unasked mail would be sent from the operator's address. */
const MAIL_PORT = 25

/** The operator has named the host, so its address is as good as public. */
const ALL: AddressRule = { permits: () => true }

/** Throws NotPermitted, and errors of sockets and of the DNS. `networks` are permitted although they are not public. */
export function createReach(
  deps: {
    readonly own: readonly OwnAddress[]
    readonly networks: readonly string[]
    readonly resolve: Resolve
  } & Pick<MachinePlaces, 'machine'>,
): Reach {
  const { own, networks, resolve, machine } = deps
  // A domain of an account leads to the service too.
  const servedPorts = own.map(({ port }) => port)
  const rule = createAddressRule(networks, { servedPorts, ...(machine && { machine }) })
  /** Names below one that the operator has named may be of others: they lead to its addresses, or to public ones. */
  const ownRule = async ({ names, port }: OwnAddress, hostname: string): Promise<AddressRule> => {
    if (names.includes(hostname)) return ALL
    const named = names.filter((name) => !name.startsWith('*'))
    const addresses = (await Promise.all(named.map(resolve))).flat()
    return { permits: (address) => addresses.includes(address) || rule.permits(address, port) }
  }
  return async ({ hostname, port }, { account, signal: ending }) => {
    const ours = own.find((one) => one.port === port && isNamed(one.names, hostname))
    if (ours?.listens !== undefined)
      return await connectTo({ ...ours.listens, ...sourceOf(account, ours.listens.host) }, ending)
    if (port === MAIL_PORT) throw new NotPermitted('port 25 is closed: send mail by a service')
    const permitted = ours === undefined ? rule : await ownRule(ours, hostname)
    return await connectChecked({ rule: permitted, resolve }, { hostname, port, ending })
  }
}

const isNamed = (names: readonly string[], hostname: string): boolean =>
  names.some((name) =>
    name.startsWith('*') ? hostname.endsWith(name.slice(1)) : hostname === name,
  )

/** On loopback each account comes from an address of its own. */
const sourceOf = (account: string, host: string): { localAddress?: string } =>
  host.startsWith('127.') ? { localAddress: accountAddress(account) } : {}
