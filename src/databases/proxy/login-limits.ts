// Limits of logins. Each proxy counts its own and has an equal part of each pace: the kernel spreads connections evenly. A database that logs in all the time leaves time to others. Wrong passwords are
// answered late, and then logins of that role from that address are refused: its owner comes in from another address.
import { LRUCache } from 'lru-cache'
import type { Clock } from '#base/clock.ts'
import { networkOf } from '#base/subnets.ts'
import type { FatalError } from '#wire/messages.ts'

export type LoginPace = { readonly burst: number; readonly perSecond: number }

/** Logins of a database. Clients that connect for each query make more than 500 a second; each takes 0.5 to 1 ms. */
export const LOGINS: LoginPace = { burst: 2000, perSecond: 2000 }
/** Wrong passwords of a role from an address. */
export const ROLE_FAILURES: LoginPace = { burst: 10, perSecond: 1 }
/** Wrong passwords of all roles from an address. */
export const ADDRESS_FAILURES: LoginPace = { burst: 100, perSecond: 10 }
/** The longest delay of the answer to a wrong password; beyond it logins are refused. */
export const FAILURE_DELAY_MS_MAX = 5000

const KEYS_MAX = 10_000
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

export interface LoginLimits {
  /** Why there is no login of a role from an address now. */
  refusal(role: string, address: string | undefined): FatalError | undefined
  /** Counts a wrong password; returns how long the answer waits. */
  failed(role: string, address: string | undefined): number
  /** Counts a login; why the database has no more of them now. */
  loggedIn(database: string): FatalError | undefined
}

/** `proxies` is the number of those that share the paces. */
export function createLoginLimits(clock: Pick<Clock, 'monotonicMs'>, proxies: number): LoginLimits {
  const bucketsOf = ({ burst, perSecond }: LoginPace) =>
    createBuckets({ burst: Math.ceil(burst / proxies), perSecond: perSecond / proxies }, clock)
  const logins = bucketsOf(LOGINS)
  const roles = bucketsOf(ROLE_FAILURES)
  const addresses = bucketsOf(ADDRESS_FAILURES)
  return {
    refusal(role, address) {
      const host = networkOf(address ?? 'this machine')
      const debtMs = Math.max(roles.debtMs(`${role} ${host}`), addresses.debtMs(host))
      return debtMs > FAILURE_DELAY_MS_MAX ? TOO_MANY_FAILED : undefined
    },
    failed(role, address) {
      const host = networkOf(address ?? 'this machine')
      const debtMs = Math.max(roles.take(`${role} ${host}`), addresses.take(host))
      return Math.min(debtMs, FAILURE_DELAY_MS_MAX)
    },
    loggedIn(database) {
      if (logins.debtMs(database) > 0) return TOO_MANY
      logins.take(database)
      return undefined
    },
  }
}

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
