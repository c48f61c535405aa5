// Who asked, and over what. A connection says it by itself, unless it is that of a proxy which the operator
// trusts: then its headers do, X-Forwarded-For and X-Forwarded-Proto as nginx, HAProxy, Caddy and Traefik set them.
// From anybody else they are what a caller likes to say, and are not read.
import { isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { present } from '#base/errors.ts'
import { bareAddress, parseSubnet } from '#base/subnets.ts'

export type RemoteClient = {
  /** An IP address; empty when the connection is gone. */
  readonly address: string
  /** Whether what it sent was encrypted on its way. */
  readonly isSecure: boolean
}

export type ClientOf = (request: {
  readonly socket: Socket
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}) => RemoteClient

/** `trusted` are addresses and networks, `10.0.0.0/8`. Throws for one that is neither. */
export function createClientOf(trusted: readonly string[]): ClientOf {
  const proxies = trusted.map((text) => present(parseSubnet(text), `a network: ${text}`))
  const isProxy = (address: string) => proxies.some((subnet) => subnet.includes(address))
  return ({ socket, headers }) => {
    const own = {
      address: bareAddress(socket.remoteAddress ?? ''),
      isSecure: (socket as Partial<TLSSocket>).encrypted === true,
    }
    if (!isProxy(own.address)) return own
    const hops = listed(headers['x-forwarded-for']).map(withoutPort)
    // Each proxy writes behind what it was told: from the right, the first that none of ours has written.
    const client = hops.findLast((hop) => !isProxy(hop)) ?? hops[0] ?? own.address
    const protocol = listed(headers['x-forwarded-proto']).at(-1)
    return {
      address: isIP(client) ? client : '',
      isSecure: protocol === undefined ? own.isSecure : protocol.toLowerCase() === 'https',
    }
  }
}

const listed = (value: string | string[] | undefined): string[] =>
  [value ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())

const withoutPort = (address: string): string =>
  bareAddress(/^\[(.*)\](:\d+)?$/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, '$1'))
