// Where functions answer. On loopback the account may be the first segment of the path, too: not every resolver knows names
// below localhost.
import { isLoopback } from '#base/hosts.ts'
import type { Config } from '#config/config.ts'
import { urlOfAccount, type FunctionsAddress } from '#contract/functions/functions-address.ts'
import type { DataFolder } from './data-folder.ts'
import { FUNCTIONS_PORT_OFFSET } from './ports.ts'

type Node = { readonly config: Config; readonly data: Pick<DataFolder, 'port'> }

/** Undefined where functions answer at no address. */
export const functionsAddress = (node: Node): FunctionsAddress | undefined =>
  node.config.functions ? ingressAddress(node) : undefined

/** Of all that accounts run; undefined where there is none. */
export function ingressAddress({ config, data }: Node): FunctionsAddress | undefined {
  if (config.functionsUrl !== undefined) {
    const { protocol, host, hostname } = new URL(config.functionsUrl)
    return { host: hostname, origin: undefined, named: `${protocol}//*.${host}` }
  }
  if (!isLoopback(config.host)) return undefined
  const port = data.port + FUNCTIONS_PORT_OFFSET
  return {
    host: 'functions.localhost',
    origin: `http://localhost:${port}`,
    named: `http://*.functions.localhost:${port}`,
  }
}

/** The address of the functions of an account; null where there is none. */
export function functionsUrl(node: Node, account: string): string | null {
  const address = functionsAddress(node)
  return address === undefined ? null : urlOfAccount(address, account)
}
