// The client's address, and whether its connection is encrypted. Both are those of the socket. Behind a proxy that
// the operator trusts, the proxy's headers name both: X-Forwarded-For and X-Forwarded-Proto, as nginx, HAProxy, Caddy
// and Traefik set them. From any other peer these headers may be forged, and are not read.
import { isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { present } from '#base/errors.ts'
import { bareAddress, parseSubnet } from '#base/subnets.ts'

export type RemoteClient = {
  /** An IP address; empty when the connection is gone. */
  readonly address: string
  /** The client sent the request over TLS. */
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
    // Each proxy appends the address of its peer: the client is the rightmost address that is no trusted proxy.
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
