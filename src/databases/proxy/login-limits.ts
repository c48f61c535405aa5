// Limits of logins. Each proxy counts its own and has an equal part of each pace: the kernel spreads connections evenly.
// A database that logs in all the time leaves time to others. Wrong passwords are answered late, and then logins of that
// role from that address are refused: its owner comes in from another address. Connections that come to no session cost
// nobody but the operator, so their number is limited before their first byte is read. Code of an account comes from an
// address of its own on loopback. Limits of an address alone do not hold for the addresses that many share.
import { LRUCache } from 'lru-cache'
import type { Clock } from '#base/clock.ts'
import { bareAddress, networkOf } from '#base/subnets.ts'
import { isAccountAddress } from '#node/account-address.ts'
import type { FatalError } from '#wire/messages.ts'
import { createKnownNetworks } from './known-networks.ts'
import type { Role } from './roles.ts'

export type LoginPace = { readonly burst: number; readonly perSecond: number }

/** Logins of a database. Clients that connect for each query make more than 500 a second; each takes 0.5 to 1 ms. */
export const LOGINS: LoginPace = { burst: 2000, perSecond: 2000 }
/** Wrong passwords of a role from an address. */
export const ROLE_FAILURES: LoginPace = { burst: 10, perSecond: 1 }
/** Wrong passwords of all roles from an address. */
export const ADDRESS_FAILURES: LoginPace = { burst: 100, perSecond: 10 }
/** Wrong passwords of all roles of a database, from everywhere. */
export const DATABASE_FAILURES: LoginPace = { burst: 100, perSecond: 10 }
/** Connections from an address that come to no session: each may take 1 ms, most of it for TLS. */
export const UNSERVED: LoginPace = { burst: 500, perSecond: 50 }
/** The pace of logins from all addresses: they may take half of a processor. */
export const ALL_UNSERVED: LoginPace = { burst: 5000, perSecond: 500 }
/** The longest delay of the answer to a wrong password; beyond it logins are refused. */
export const FAILURE_DELAY_MS_MAX = 5000

const KEYS_MAX = 10_000
/** No role has a longer name; a stranger may send one of 8 KB. */
const NAME_MAX = 63
const ALL = 'all'
const TOO_MANY: FatalError = {
  code: '53300',
  message: 'too many logins to this database',
  hint: 'Use a pool of connections that stay open.',
}
const TOO_MANY_FAILED: FatalError = {
  code: '53300',
  message: 'too many logins with a wrong password from this address',
  hint: 'Correct the password (ergon db url), and try again in a few seconds.',
}
const TOO_MANY_UNSERVED: FatalError = {
  code: '53300',
  message: 'too many connections without a session from this address',
  hint: 'The errors of the earlier ones say why; try again in a few seconds.',
}
const CROWDED_DOOR: FatalError = {
  code: '53300',
  message: 'too many connections without a session from everywhere',
  hint: 'Try again in a few seconds; addresses with a login of the last day are served.',
}

export interface LoginLimits {
  /** Why there is no connection from an address now. */
  crowded(address: string | undefined): FatalError | undefined
  /** Counts a connection that was let in and came to no session. */
  unserved(address: string | undefined): void
  /** A login of a role from an address: both are known from now on. */
  known(role: Pick<Role, 'name' | 'account'>, address: string | undefined): void
  /** Why there is no login of a role from an address now. */
  refusal(role: string, address: string | undefined): FatalError | undefined
  /** Counts a wrong password; returns how long the answer waits. */
  failed(role: string, address: string | undefined): number
  /** Counts a login; why the database has no more of them now. */
  loggedIn(database: string): FatalError | undefined
}

/** `proxies` is the number of those that share the paces. */
export function createLoginLimits(
  clock: Pick<Clock, 'monotonicMs'>,
  proxies: number,
  isShared = sharedAt('127.0.0.1'),
): LoginLimits {
  const bucketsOf = ({ burst, perSecond }: LoginPace) =>
    createBuckets({ burst: Math.ceil(burst / proxies), perSecond: perSecond / proxies }, clock)
  const logins = bucketsOf(LOGINS)
  const roles = bucketsOf(ROLE_FAILURES)
  const addresses = bucketsOf(ADDRESS_FAILURES)
  const databases = bucketsOf(DATABASE_FAILURES)
  const unserved = bucketsOf(UNSERVED)
  const allUnserved = bucketsOf(ALL_UNSERVED)
  const known = createKnownNetworks(clock)
  return {
    crowded(address) {
      if (isShared(address)) return undefined
      const host = hostOf(address)
      if (unserved.debtMs(host) > 0) return TOO_MANY_UNSERVED
      return allUnserved.debtMs(ALL) > 0 && !known.has(host) ? CROWDED_DOOR : undefined
    },
    unserved(address) {
      if (isShared(address)) return
      unserved.take(hostOf(address))
      allUnserved.take(ALL)
    },
    known: ({ name, account }, address) =>
      known.add(hostOf(address), { database: databaseOf(name), account }),
    refusal(role, address) {
      const host = hostOf(address)
      const database = databaseOf(role)
      const debtsMs = [
        roles.debtMs(`${nameOf(role)} ${host}`),
        isShared(address) ? 0 : addresses.debtMs(host),
        known.has(host, database) ? 0 : databases.debtMs(database),
      ]
      return Math.max(...debtsMs) > FAILURE_DELAY_MS_MAX ? TOO_MANY_FAILED : undefined
    },
    failed(role, address) {
      const host = hostOf(address)
      const ofAddress = isShared(address) ? 0 : addresses.take(host)
      databases.take(databaseOf(role))
      return Math.min(
        Math.max(roles.take(`${nameOf(role)} ${host}`), ofAddress),
        FAILURE_DELAY_MS_MAX,
      )
    },
    loggedIn(database) {
      if (logins.debtMs(database) > 0) return TOO_MANY
      logins.take(database)
      return undefined
    },
  }
}

const hostOf = (address = 'this machine') => networkOf(address)

const nameOf = (role: string) => role.slice(0, NAME_MAX)

/** Roles are named after their databases: `u_x` is the owner of `db_x`, and `u_x_app` another role. */
const databaseOf = (role: string) => nameOf(role).split('_', 2).join('_')

/**
 * Says whether code of many accounts and programs of the machine share an address, of a proxy that listens at a host.
 * They call a host that is not on loopback from its own address.
 */
export const sharedAt =
  (host: string) =>
  (address: string | undefined): boolean => {
    const bare = address && bareAddress(address)
    return bare === host || (isOfThisMachine(bare) && !isAccountAddress(bare ?? ''))
  }

/** A unix socket has no address. */
export const isOfThisMachine = (address: string | undefined): boolean =>
  address === undefined || /^(127\.|::1$|::ffff:127\.)/.test(address)

/** Buckets of tokens by key; a key that was not seen for long is forgotten first, with a full bucket. */
function createBuckets({ burst, perSecond }: LoginPace, clock: Pick<Clock, 'monotonicMs'>) {
  const tokenMs = 1000 / perSecond
  /** When the bucket of a key is full again. */
  const fullAtMs = new LRUCache<string, number>({ max: KEYS_MAX })
  const nextMs = (key: string) => Math.max(fullAtMs.get(key) ?? 0, clock.monotonicMs()) + tokenMs
  /** The time until a token is there; zero while there are some. */
  const debtOf = (atMs: number) => Math.max(0, atMs - clock.monotonicMs() - burst * tokenMs)
  return {
    debtMs: (key: string) => debtOf(nextMs(key)),
    /** Takes a token, also of an empty bucket. */
    take(key: string): number {
      const atMs = nextMs(key)
      fullAtMs.set(key, atMs)
      return debtOf(atMs)
    },
  }
}
