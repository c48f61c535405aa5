// Chooses the protocol of a request: by Host, then by the first segment of the path; by Accept only for a
// browser at the root. Health pages answer on any Host that is not a website's, because load balancers ask by
// address. The protocol that takes the rest (S3) may say in a refusal where the API is (wrong-address.ts).
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { ProtocolHandler } from './protocol-handler.ts'
import type { Exchange } from './exchange.ts'
import { createFrontPage, isVisitor } from './front-page.ts'
import type { Protocol } from './gateway-part.ts'
import { HEALTH_PATHS, hostOf } from './request-form.ts'
import { createHintingHandler } from './wrong-address.ts'

/** First path segments that never name a bucket (DESIGN §9, "Host"). */
const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  'v1',
  'healthz',
  'readyz',
  'metrics',
  '.well-known',
  'portal',
  'status',
  'console',
  'mesh',
  'db',
  'functions',
])

/** `hosts` are the names that the service answers to, lower case, without ports; `api` is the JSON API. */
export function createHostRule(deps: {
  api: ProtocolHandler
  protocols: readonly Protocol[]
  hosts: readonly string[]
  /** The public address, where a proxy is in front. */
  baseUrl: string | undefined
}): (exchange: Exchange) => ProtocolHandler {
  const known = new Set(deps.hosts)
  const { api, protocols, baseUrl } = deps
  const bySegment = segmentsOf(api, protocols)
  const storage = protocols.find(({ rest }) => rest === true)?.handler
  const rest = storage === undefined ? api : createHintingHandler({ storage, api, baseUrl })
  const front = createFrontPage(baseUrl)
  const owners = protocols.filter(({ ownsHealthPages }) => ownsHealthPages === true)
  return (exchange) => {
    const host = hostOf(exchange.request)
    // First: these hosts may be below the others.
    const owner = protocolBelow(owners, host)
    if (owner !== undefined) return owner
    if (HEALTH_PATHS.has(exchange.path)) return api
    if (known.has(host)) {
      if (isVisitor(exchange)) return front
      return bySegment.get(firstSegment(exchange.path)) ?? rest
    }
    const below = protocolBelow(protocols, host)
    if (below !== undefined) return below
    throw hostUnknown(host)
  }
}

/** The refusal of a host that nothing here answers to. */
export const hostUnknown = (host: string): ErgonError =>
  fault('host_unknown', `Could not answer for the host: "${host.slice(0, 200)}"`)

/** The API's own segments and those of the protocols. */
const segmentsOf = (
  api: ProtocolHandler,
  protocols: readonly Protocol[],
): ReadonlyMap<string, ProtocolHandler> =>
  new Map([
    ...[...RESERVED_SEGMENTS].map((segment) => [segment, api] as const),
    ...protocols.flatMap((protocol) =>
      (protocol.segments ?? []).map((segment) => [segment, protocol.handler] as const),
    ),
  ])

const protocolBelow = (protocols: readonly Protocol[], host: string): ProtocolHandler | undefined =>
  protocols.find(({ below }) => below !== undefined && isBelow(host, below))?.handler

const isBelow = (host: string, bases: readonly string[]): boolean =>
  bases.some((base) => host.length > base.length + 1 && host.endsWith(`.${base}`))

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1)
  return end < 0 ? path.slice(1) : path.slice(1, end)
}
