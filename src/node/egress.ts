// The way out for code of accounts, as products see it. A cell reaches public addresses by a proxy on a port of its
// own loopback, and the service's own addresses at the ports that they are printed with.
import type { CellOutlet } from '#cells/cell.ts'

/** The group of the socket that outlets lead to. */
export const EGRESS_SOCKETS = 'egress'
export const PROXY_PORT = 3128

const PROXY = `http://127.0.0.1:${PROXY_PORT}`
const OWN_LOOPBACK = 'localhost,127.0.0.1,::1'
/** The variables by which programs find the proxy: curl reads the first in small letters alone, and Node.js asks for the last. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  NO_PROXY: OWN_LOOPBACK,
  http_proxy: PROXY,
  https_proxy: PROXY,
  no_proxy: OWN_LOOPBACK,
  NODE_USE_ENV_PROXY: '1',
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
