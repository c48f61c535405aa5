// Networks with a login of the last day: limits that count all addresses together do not hold for them. Each database
// remembers its own networks, so a stranger with many addresses and one password makes no other database forget.
import { LRUCache } from 'lru-cache'
import type { Clock } from '#base/clock.ts'

export interface KnownNetworks {
  /** True after a login to the database of the last day; without a database after a login to any. */
  has(host: string, database?: string): boolean
  /** Notes a login. */
  add(host: string, database: string): void
}

const KNOWN_MS = 86_400_000
/** The database with the oldest last login is forgotten first. An account has 20 databases at a time. */
const DATABASES_MAX = 2000
/** A database forgets the network with its oldest last login first. */
const NETWORKS_MAX = 100

export function createKnownNetworks(clock: Pick<Clock, 'monotonicMs'>): KnownNetworks {
  /** The last login from a network to any database, and the number of databases that remember it. */
  const hosts = new Map<string, { lastMs: number; databases: number }>()
  const forget = (host: string) => {
    const one = hosts.get(host)
    if (one !== undefined && --one.databases === 0) hosts.delete(host)
  }
  const databases = new LRUCache<string, LRUCache<string, number>>({
    max: DATABASES_MAX,
    dispose: (networks) => networks.clear(),
  })
  const newNetworks = () =>
    new LRUCache<string, number>({
      max: NETWORKS_MAX,
      dispose: (_, host) => forget(host),
      noDisposeOnSet: true,
    })
  return {
    has(host, database) {
      const lastMs =
        database === undefined ? hosts.get(host)?.lastMs : databases.peek(database)?.peek(host)
      return lastMs !== undefined && lastMs > clock.monotonicMs() - KNOWN_MS
    },
    add(host, database) {
      const lastMs = clock.monotonicMs()
      const networks = databases.get(database) ?? newNetworks()
      const count = (hosts.get(host)?.databases ?? 0) + (networks.has(host) ? 0 : 1)
      hosts.set(host, { lastMs, databases: count })
      networks.set(host, lastMs)
      databases.set(database, networks)
    },
  }
}
