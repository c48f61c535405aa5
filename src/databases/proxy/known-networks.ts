// Networks with a login of the last day: limits that count all addresses together do not hold for them. Each database
// remembers its own networks, so a stranger with many addresses and one password makes no other database forget. An account
// that makes and deletes databases makes its own ones forget alone.
import { LRUCache } from 'lru-cache'
import type { Clock } from '#base/clock.ts'
import { DATABASES_MAX } from '#contract/databases/databases-max.ts'

export interface KnownNetworks {
  /** True after a login to the database of the last day; without a database after a login to any. */
  has(host: string, database?: string): boolean
  /** Notes a login to a database of an account. */
  add(host: string, of: { readonly database: string; readonly account: string }): void
}

const KNOWN_MS = 86_400_000
/** The database with the oldest last login is forgotten first, of an account with too many one of its own. */
const REMEMBERED_MAX = 2000
/** A database forgets the network with its oldest last login first. */
const NETWORKS_MAX = 100

type KnownDatabase = { readonly account: string; readonly networks: LRUCache<string, number> }

export function createKnownNetworks(clock: Pick<Clock, 'monotonicMs'>): KnownNetworks {
  /** The last login from a network to any database, and the number of databases that remember it. */
  const hosts = new Map<string, { lastMs: number; databases: number }>()
  const forget = (host: string) => {
    const one = hosts.get(host)
    if (one !== undefined && --one.databases === 0) hosts.delete(host)
  }
  /** The databases of an account that are remembered, the one with the oldest last login first. */
  const accounts = new Map<string, Set<string>>()
  const databases = new LRUCache<string, KnownDatabase>({
    max: REMEMBERED_MAX,
    noDisposeOnSet: true,
    dispose({ account, networks }, database) {
      networks.clear()
      const own = accounts.get(account)
      own?.delete(database)
      if (own?.size === 0) accounts.delete(account)
    },
  })
  /** Notes the last login of a database. An account with too many databases loses the note of an older one. */
  function note(account: string, database: string, networks: KnownDatabase['networks']): void {
    const own = accounts.get(account) ?? new Set()
    accounts.set(account, own)
    own.delete(database)
    own.add(database)
    databases.set(database, { account, networks })
    const [oldest] = own
    if (own.size > DATABASES_MAX && oldest !== undefined) databases.delete(oldest)
  }
  const newNetworks = () =>
    new LRUCache<string, number>({
      max: NETWORKS_MAX,
      dispose: (_, host) => forget(host),
      noDisposeOnSet: true,
    })
  return {
    has(host, database) {
      const lastMs =
        database === undefined
          ? hosts.get(host)?.lastMs
          : databases.peek(database)?.networks.peek(host)
      return lastMs !== undefined && lastMs > clock.monotonicMs() - KNOWN_MS
    },
    add(host, { database, account }) {
      const lastMs = clock.monotonicMs()
      const networks = databases.get(database)?.networks ?? newNetworks()
      const count = (hosts.get(host)?.databases ?? 0) + (networks.has(host) ? 0 : 1)
      hosts.set(host, { lastMs, databases: count })
      networks.set(host, lastMs)
      note(account, database, networks)
    },
  }
}
