// The addresses of the service that code of accounts may reach: the printed form of each, and its listener.
import { hostOfUrl, isLoopback } from '#base/hosts.ts'
import type { Config } from '#config/config.ts'
import type { DataFolder } from './data-folder.ts'
import { apiPortsFrom } from './ports.ts'

/** An address of the service that code of accounts may reach. */
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

const LOCAL_NAMES = ['localhost', '*.localhost', '127.0.0.1', '::1']

/** An address of HTTP: one on loopback listens here, others may be behind a proxy of the operator. */
export function ownHttpAddress(url: string, listens: { host: string; port: number }): OwnAddress {
  const parsed = new URL(url)
  const { hostname, port, protocol } = parsed
  if (isLoopback(hostOfUrl(parsed)))
    return { names: LOCAL_NAMES, port: Number(port), listens: reachableAt(listens) }
  const names = [hostname, `*.${hostname}`]
  return { names, port: Number(port || (protocol === 'https:' ? 443 : 80)) }
}

/** The ports on which the installation listens, and those of its public addresses: a proxy may have them here. */
export function ownPorts({ config, data }: AddressedNode): number[] {
  const { ingressTlsPort, testProcessorPort, baseUrl, portalUrl, functionsUrl, statusUrl } = config
  const listened = [...apiPortsFrom(data.port), data.pgPort, ingressTlsPort, testProcessorPort]
  const named = [baseUrl, portalUrl, functionsUrl, statusUrl].map((url) =>
    url === undefined ? '' : new URL(url).port,
  )
  const ports = [...listened, ...named.filter((text) => text !== '').map(Number)]
  return [...new Set(ports.filter((one) => one !== undefined))]
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
