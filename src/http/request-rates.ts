// Limits the requests of an account in a minute, those of a token that has a limit of its own, and others by key. Each gateway counts
// alone, in memory: N gateways together take up to N times a limit. A stream is one request, however long. A refusal
// comes before the body is read, and takes CPU of the operator alone.
import type { Clock } from '#base/clock.ts'
import { fault } from '#contract/errors.ts'
import type { Principal } from '#identity/principal.ts'
import type { HeaderList } from './energy-headers.ts'

/** A thousand a second, which is a good part of a gateway's capacity; 256 at once protect others besides. */
export const ACCOUNT_RATE_PER_MINUTE = 60_000
const WINDOW_MS = 60_000
/**
 * Keys in a minute beyond which buckets are forgotten early, as full ones: networks of strangers are without number.
 */
const KEYS_MAX = 100_000
/** A sum of fractions of a millisecond is off by less. */
const TOLERANCE_MS = 0.01
/** OpenAI's clients obey a shorter wait than a minute, and take their own half second in place of a longer one. */
const WAIT_MS_MAX = 59_000

export interface RequestRates {
  /**
   * Counts a request; returns the headers with the remaining number. Throws rate_limit_exceeded, and counts nothing
   * then.
   */
  take(caller: Pick<Principal, 'account' | 'rate'>): HeaderList
}

export function createRequestRates(
  perMinute: number,
  clock: Pick<Clock, 'monotonicMs'>,
): RequestRates {
  const rates = createRates(clock)
  return {
    take({ account, rate }) {
      const wanted = [{ key: account, name: 'account', perMinute }]
      // Tokens of one key whose limits differ would renew each other's bucket.
      if (rate !== undefined)
        wanted.push({ ...rate, key: `${rate.key} ${rate.perMinute}`, name: 'token' })
      return rates.take(wanted)
    },
  }
}

type KeyRate = {
  readonly key: string
  /** The kind of the key, for the refusal. */
  readonly name: string
  readonly perMinute: number
}

export interface Rates {
  /** Counts a request of each key; the rest as RequestRates. */
  take(wanted: readonly KeyRate[]): HeaderList
}

export function createRates(clock: Pick<Clock, 'monotonicMs'>): Rates {
  // A token bucket that is unused for a minute is full, like a new bucket. Two maps that change places each minute
  // therefore keep every bucket that matters, without timers and without a list by age.
  let young = new Map<string, Allowance>()
  let old = new Map<string, Allowance>()
  let turnedMs = clock.monotonicMs()

  function bucketOf({ key, name, perMinute: rate }: KeyRate): Allowance {
    const used = young.get(key)
    if (used?.perMinute === rate) return used
    const kept = old.get(key)
    const bucket = kept?.perMinute === rate ? kept : new Allowance(name, rate)
    young.set(key, bucket)
    return bucket
  }

  return {
    take(wanted) {
      const nowMs = clock.monotonicMs()
      if (nowMs - turnedMs >= WINDOW_MS || young.size >= KEYS_MAX) {
        old = young
        young = new Map()
        turnedMs = nowMs
      }
      const buckets = wanted.map(bucketOf)
      const empty = buckets.find((bucket) => bucket.waitMs(nowMs) > 0)
      if (empty !== undefined) throw refusal(empty, nowMs, headersOf(buckets, nowMs))
      for (const bucket of buckets) bucket.take(nowMs)
      return headersOf(buckets, nowMs)
    },
  }
}

/**
 * A bucket of a minute's requests, which fills evenly: the generic cell rate algorithm of ITU-T I.371, whose state is
 * the time at which the bucket is full.
 */
class Allowance {
  readonly name: string
  readonly perMinute: number
  /** The item of RateLimit-Policy. */
  readonly policy: string
  readonly #eachMs: number
  #fullMs = 0
  /** The latest time for which a refused caller is asked to come again. */
  #toldMs = 0

  constructor(name: string, perMinute: number) {
    this.name = name
    this.perMinute = perMinute
    this.policy = `"${name}";q=${perMinute};w=${WINDOW_MS / 1000}`
    this.#eachMs = WINDOW_MS / perMinute
  }

  /** Until the next request may come. */
  waitMs(nowMs: number): number {
    const waitMs = this.#fullMs + this.#eachMs - WINDOW_MS - nowMs
    return waitMs > TOLERANCE_MS ? waitMs : 0
  }

  take(nowMs: number): void {
    this.#fullMs = Math.max(this.#fullMs, nowMs) + this.#eachMs
  }

  /** The wait of a refused caller. Each waits longer than the one before, so that they do not all come at once. */
  tell(nowMs: number): number {
    const nextMs = Math.max(nowMs + this.waitMs(nowMs), this.#toldMs + this.#eachMs)
    this.#toldMs = Math.min(nextMs, nowMs + WAIT_MS_MAX)
    return this.#toldMs - nowMs
  }

  /** The item of RateLimit: what is left, and the seconds until all of it is there again. */
  standing(nowMs: number): string {
    const usedMs = Math.max(0, this.#fullMs - nowMs)
    const left = Math.floor((WINDOW_MS - usedMs + TOLERANCE_MS) / this.#eachMs)
    return `"${this.name}";r=${left};t=${Math.ceil((usedMs - TOLERANCE_MS) / 1000)}`
  }
}

/** draft-ietf-httpapi-ratelimit-headers-10: two lists of structured fields with the same names. */
function headersOf(buckets: readonly Allowance[], nowMs: number): HeaderList {
  return [
    'RateLimit-Policy',
    buckets.map(({ policy }) => policy).join(', '),
    'RateLimit',
    buckets.map((bucket) => bucket.standing(nowMs)).join(', '),
  ]
}

function refusal(bucket: Allowance, nowMs: number, limits: HeaderList) {
  const { name, perMinute } = bucket
  const waitMs = Math.ceil(bucket.tell(nowMs))
  const [policyName = '', policy = '', standingName = '', standing = ''] = limits
  return fault(
    'rate_limit_exceeded',
    `Could not take the request: this ${name} sends more than ${perMinute} a minute`,
    {
      retryAfterS: Math.ceil(waitMs / 1000),
      headers: {
        [policyName]: policy,
        [standingName]: standing,
        'retry-after-ms': String(waitMs),
      },
    },
  )
}
