// No address holds all connections of a listener: an address with many connections is refused before others are.
import type { Server as NetServer, Socket } from 'node:net'
import { bareAddress, networkOf, parseSubnet } from '#base/subnets.ts'

export type Trusts = (address: string) => boolean

/** True for the addresses of proxies that the operator trusts: addresses and networks. */
export function trustsOf(proxies: readonly string[]): Trusts {
  const trusted = proxies.flatMap((text) => parseSubnet(text) ?? [])
  return (address) => trusted.some((subnet) => subnet.includes(bareAddress(address)))
}

/** Closes each connection beyond `most` of one network. Proxies in front bring the connections of many: they have no limit. */
export function limitAddresses(
  server: NetServer,
  most: number,
  trusts: Trusts = () => false,
): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = bareAddress(socket.remoteAddress ?? '')
    if (trusts(address)) return
    const network = networkOf(address)
    const count = (open.get(network) ?? 0) + 1
    if (count > most) {
      socket.destroy()
      return
    }
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left === 0) open.delete(network)
      else open.set(network, left)
    })
  })
}
