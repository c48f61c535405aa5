// Which door a request goes to: Host first, then the first path segment; never Accept. Health pages
// answer on any Host, because load balancers ask by address. What is not the API's own is a bucket's.
import { fault } from '#contract/errors.ts'
import type { Door } from './door.ts'
import type { Exchange } from './exchange.ts'
import { hostOf } from './limits.ts'

const ANY_HOST: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

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
 * `hosts` are the names that the service answers to, lower case, without ports; with a door for
 * storage, names below them are buckets.
 */
export function createHostRule(deps: {
  door: Door
  storage?: Door
  hosts: readonly string[]
}): (exchange: Exchange) => Door {
  const known = new Set(deps.hosts)
  const { door, storage = door } = deps
  return (exchange) => {
    const host = hostOf(exchange.request)
    if (ANY_HOST.has(exchange.path)) return door
    if (known.has(host)) return RESERVED_SEGMENTS.has(firstSegment(exchange.path)) ? door : storage
    const dot = host.indexOf('.')
    if (
      deps.storage !== undefined &&
      dot > 0 &&
      deps.hosts.some((base) => host.endsWith(`.${base}`))
    )
      return storage
    throw fault('host_unknown', `Could not answer for the host: "${host.slice(0, 200)}"`)
  }
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1)
  return end < 0 ? path.slice(1) : path.slice(1, end)
}
