// The way out of what accounts run, as products see it. A cell reaches public addresses by a proxy on a port of its own
// loopback, and the service's own addresses at the ports that they are printed with.
import type { CellOutlet } from '#cells/cell.ts'
import { isLoopback, type Config } from '#config/config.ts'
import type { DataFolder } from './data-folder.ts'

/** The group of the socket that outlets lead to. */
export const EGRESS_SOCKETS = 'egress'
export const PROXY_PORT = 3128

const PROXY = `http://127.0.0.1:${PROXY_PORT}`
const OWN_LOOPBACK = 'localhost,127.0.0.1,::1'
/** By which programs find the proxy: curl reads the first in small letters alone, and Node.js asks for the last. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  NO_PROXY: OWN_LOOPBACK,
  http_proxy: PROXY,
  https_proxy: PROXY,
  no_proxy: OWN_LOOPBACK,
  NODE_USE_ENV_PROXY: '1',
}

/** An address of the service that what accounts run may reach. */
export type OwnAddress = {
  /** As printed, `*.` for all names below one. */
  readonly names: readonly string[]
  readonly port: number
  /** Where on this machine; without it the names are looked up as others are, and may have any address. */
  readonly listens?: { readonly host: string; readonly port: number }
}

export type AddressedNode = {
  readonly config: Config
  readonly data: Pick<DataFolder, 'port' | 'pgPort'>
}

export interface NodeEgress {
  /**
   * The outlet of a cell of an account, or of a spare, without ports that its program listens on. Starts the proxy.
   */
  outletOf(
    cell: { readonly name: string; readonly account: string } | undefined,
    taken?: readonly number[],
  ): Promise<CellOutlet>
  /** Tells of connections that were not made, of cells by the beginning of their names. */
  onFailure(
    cells: string,
    tell: (line: { readonly cell: string; readonly text: string }) => void,
  ): void
}

const LOCAL_NAMES = ['localhost', '*.localhost', '127.0.0.1', '::1']

/** An address of HTTP: one on loopback listens here, others may be behind a proxy of the operator. */
export function ownHttpAddress(url: string, listens: { host: string; port: number }): OwnAddress {
  const { hostname, port, protocol } = new URL(url)
  if (isLoopback(hostname.replace(/^\[|\]$/g, '')) || hostname.endsWith('.localhost'))
    return { names: LOCAL_NAMES, port: Number(port), listens: reachableAt(listens) }
  const names = [hostname, `*.${hostname}`]
  return { names, port: Number(port || (protocol === 'https:' ? 443 : 80)) }
}

/** Where a server of the node listens, by its distance from the port of the API. */
export const listenOf = ({ config, data }: AddressedNode, offset: number) => ({
  host: config.host,
  port: data.port + offset,
})

/** Where a server that may listen on all addresses is reached. */
export const reachableAt = ({ host, port }: { host: string; port: number }) => ({
  host: host === '0.0.0.0' || host === '::' || host === 'localhost' ? '127.0.0.1' : host,
  port,
})
