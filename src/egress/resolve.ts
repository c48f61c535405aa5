// Addresses of a name, asked of the DNS alone: not of /etc/hosts, which names machines of the operator, and not by
// getaddrinfo(), where four slow names would hold up all others.
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLocalName, LOOPBACK } from '#base/hosts.ts'

const TIMEOUT_MS = 2000
const TRIES = 2

/** Rejects with the code of the DNS, such as ENOTFOUND. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** `servers` are other ones than those of the machine. */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  return async (hostname) => {
    if (isIP(hostname) !== 0) return [hostname]
    if (isLocalName(hostname)) return LOOPBACK
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ])
    const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    if (found.length === 0 && four.status === 'rejected') throw four.reason
    return found
  }
}
