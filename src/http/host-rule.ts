// Which door a request goes to: Host first, then the first path segment; Accept only for a browser at the root.
// Health pages
// answer on any Host but a website's, because load balancers ask by address. What is not the API's own is a
// bucket's; a refusal there may say where the API is (wrong-address.ts).
import { fault } from '#contract/errors.ts'
import type { Door } from './door.ts'
import type { Exchange } from './exchange.ts'
import { createFrontDoor, isVisitor } from './front-page.ts'
import { HEALTH_PATHS, hostOf } from './limits.ts'
import { createHintingDoor } from './wrong-address.ts'

/** First path segments that never name a bucket (DESIGN §9, "Host"). */
export const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
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

/**
 * `hosts` are the names that the service answers to, lower case, without ports; names below them are
 * buckets, and below `websiteHosts` the websites of buckets.
 */
export function createHostRule(deps: {
  door: Door
  storage: Door
  website: Door
  hosts: readonly string[]
  websiteHosts: readonly string[]
  /** The public address, where a proxy is in front. */
  baseUrl?: string | undefined
}): (exchange: Exchange) => Door {
  const known = new Set(deps.hosts)
  const { door, storage, website, baseUrl } = deps
  const hinting = createHintingDoor({ storage, api: door, baseUrl })
  const front = createFrontDoor(baseUrl)
  return (exchange) => {
    const host = hostOf(exchange.request)
    // First: they may be below the others, and their pages may have any path.
    if (isBelow(host, deps.websiteHosts)) return website
    if (HEALTH_PATHS.has(exchange.path)) return door
    if (known.has(host)) {
      if (isVisitor(exchange)) return front
      return RESERVED_SEGMENTS.has(firstSegment(exchange.path)) ? door : hinting
    }
    if (isBelow(host, deps.hosts)) return storage
    throw fault('host_unknown', `Could not answer for the host: "${host.slice(0, 200)}"`)
  }
}

const isBelow = (host: string, bases: readonly string[]): boolean =>
  bases.some((base) => host.length > base.length + 1 && host.endsWith(`.${base}`))

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1)
  return end < 0 ? path.slice(1) : path.slice(1, end)
}
