// The agent's configuration of a gateway at its start, as JSON.
import type { LogLevel } from '#base/log.ts'
import type { StateAddress } from '#state/connect.ts'

export type GatewayConfig = {
  readonly name: string
  /** The other gateways of this node, with their unix sockets. */
  readonly others: readonly { readonly name: string; readonly socket: string }[]
  readonly state: StateAddress
  readonly journalFolder: string
  readonly journalSync: boolean
  readonly meter: string
  readonly listen: { readonly host: string; readonly port: number; readonly shared: boolean }
  /** The names that the service answers to, in lower case, without ports. */
  readonly hosts: readonly string[]
  /** The public address, where a proxy is in front. */
  readonly baseUrl?: string
  /** Addresses and networks of the proxies whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[]
  /** The longest time that running requests may go on during a stop. */
  readonly drainMs: number
  readonly bodyMemoryBytes: number
  readonly accountRequests: number
  /** Requests a minute. */
  readonly accountRate: number
  readonly socket: string
  readonly logLevel: LogLevel
  /** Deciphers secrets in the state. */
  readonly stateKey: string
  /** The settings of each product, by its name. */
  readonly products: Readonly<Record<string, object>>
}
