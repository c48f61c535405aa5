// The portal's own listener: its Host, its exact origin, and then the API or another protocol with a session as the
// credential, or a page.
import { isLocalName, LOOPBACK_HOSTS } from '#base/hosts.ts'
import { fault } from '#contract/errors.ts'
import { createApiProtocol } from '#http/api-protocol.ts'
import type { Exchange } from '#http/exchange.ts'
import type { Protocol, Site } from '#http/gateway-part.ts'
import { hostUnknown } from '#http/host-rule.ts'
import { HEALTH_PATHS, hostOf } from '#http/request-form.ts'
import { renderProblem } from '#http/problem.ts'
import type { BrowserCredential, ProtocolHandler } from '#http/protocol-handler.ts'
import type { Identity } from '#identity/identity.ts'
import { DATA_HEADERS } from './headers.ts'
import {
  demandOwnOrigin,
  demandOwnRead,
  demandOwnScript,
  isRead,
  type PortalOrigin,
} from './origin.ts'

/** The console verifies receipts, so it reads the keys and tiles of the log too. */
const API_PATHS = ['/v1/', '/.well-known/ergon/']

export function createSite(deps: {
  readonly port: number
  readonly origin: PortalOrigin
  readonly identity: Identity
  readonly credential: BrowserCredential
  readonly pages: ProtocolHandler
}): Site {
  const { port, origin, identity, credential, pages } = deps
  return {
    port,
    open({ api, endpoints, protocols, refusalFacts }) {
      const own = createApiProtocol({
        identity,
        baseUrl: origin.origin,
        endpoints,
        refusalFacts,
        browser: credential,
      })
      const redirect = redirectTo(origin, credential)
      const data = dataProtocols(protocols, { ...credential, headers: DATA_HEADERS })
      return {
        fallback: own,
        protocolOf(exchange) {
          if (HEALTH_PATHS.has(exchange.path)) return api
          const host = hostOf(exchange.request)
          if (host !== origin.host) return otherHost(exchange, host, { origin, redirect })
          demandOwnOrigin(exchange, origin)
          if (exchange.header('authorization') !== undefined)
            throw fault(
              'malformed_request',
              'Could not read the request: this is the portal, which takes no Authorization header. The API has another address',
            )
          if (API_PATHS.some((path) => exchange.path.startsWith(path))) {
            demandOwnRead(exchange)
            return own
          }
          const [, segment = ''] = exchange.path.split('/', 2)
          const found = data.get(segment)
          if (found === undefined) return pages
          demandOwnScript(exchange)
          return found
        },
      }
    },
  }
}

/** Protocols by the first segment of the path. */
const dataProtocols = (
  protocols: readonly Protocol[],
  credential: BrowserCredential,
): ReadonlyMap<string, ProtocolHandler> =>
  new Map(
    protocols.flatMap(({ onSites }) =>
      onSites === undefined ? [] : [[onSites.segment, onSites.open(credential)] as const],
    ),
  )

/** Throws host_unknown, but sends a reader of this machine to the portal's own name. */
function otherHost(
  exchange: Exchange,
  host: string,
  { origin, redirect }: { readonly origin: PortalOrigin; readonly redirect: ProtocolHandler },
): ProtocolHandler {
  // Passkeys are bound to the portal's own name.
  const isAlias = isLocalName(origin.host) && LOOPBACK_HOSTS.includes(host)
  if (isAlias && isRead(exchange)) return redirect
  throw hostUnknown(host)
}

const redirectTo = ({ origin }: PortalOrigin, { headers }: BrowserCredential): ProtocolHandler => ({
  headers,
  match: ({ path }) => ({
    operation: 'portal.file',
    endpoint: {
      handle: () => ({
        kind: 'known',
        status: 307,
        // A path of two slashes would be another host.
        headers: { Location: `${origin}${path.replace(/^\/+/, '/')}` },
        contentType: 'text/plain; charset=utf-8',
        body: () => `${origin}\n`,
      }),
    },
    parameters: {},
  }),
  identify: () => undefined,
  body: async () => undefined,
  render: renderProblem,
})
