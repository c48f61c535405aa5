// The standing charge of stored bytes. One charge for each bucket and minute, by the same leases, journal and
// receipts as requests. The energy of minutes adds up in the bucket's sample until it is worth a charge (1 J, or a
// day). storage_look() takes it out of the sample before the charge, so no minute is charged twice.
//
// The energy comes out of what the meters measured and no request used (the idle power of disks). Its part has the
// meter `storage`, which has no readings of its own, so no energy is in the books twice.
import { nj, type Nj } from '#base/units.ts'
import type { Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import {
  chargeAgain,
  standing,
  type Due,
  type StandingDeps,
  type StandingProduct,
} from '#charging/standing.ts'
import { isStateAway, type Queryable } from '#state/connect.ts'

export type StoragePower = {
  /** Power of storing 10¹² bytes, in milliwatts. */
  readonly milliwattsPerTb: number
  readonly pueMilli: number
}

/** A sample of a bucket: stored bytes, and the energy to charge now. */
export type Look = {
  readonly bucket: number
  readonly name: string
  readonly account: string
  /** All versions, and parts of open uploads. */
  readonly bytes: bigint
  /** The energy of this minute and of earlier uncharged ones; 0 when nothing is charged now. */
  readonly energyNj: Nj
  /** From the start of the first of these minutes to the end of the last. */
  readonly fromMs: number
  readonly toMs: number
}

export interface Standing {
  /** Samples all buckets and charges what is due. */
  charge(signal: AbortSignal): Promise<void>
  /** Charges again and again until the signal aborts. A failed round is logged; the next one charges its minutes. */
  run(signal: AbortSignal): Promise<void>
}

/**
 * Days of storage that a balance must pay for; below that the account can store no more, and has this long to fetch
 * its data.
 */
const RESERVE_DAYS = 7n
const DAY_MS = 86_400_000n
/** The band of the default's source: 650 mW of a disk is 46 % below 1200 mW of an SSD. */
const BAND_PCT = 50
const PRODUCT: StandingProduct = {
  operation: 'storage.standing',
  meter: 'storage',
  known: { method: 'model', bandPct: BAND_PCT },
  name: 'stored bytes',
}
/** Buckets of one query; their charges wait for one tick together. */
const BUCKETS_MAX = 500
/** The delay between rounds. A late round still finds its minute. */
const restMs = (minuteMs: number): number => minuteMs / 2

type Deps = StandingDeps & {
  readonly state: Queryable
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly power: StoragePower
  readonly minuteMs: number
}

export function createStanding(deps: Deps): Standing {
  const { clock, log, minuteMs } = deps
  const all: Standing = {
    async charge(signal) {
      const begunMs = clock.monotonicMs()
      await standing(deps, PRODUCT, lookAtAll(deps, signal))
      const tookMs = Math.round(clock.monotonicMs() - begunMs)
      if (tookMs + restMs(minuteMs) > minuteMs)
        log.warn(
          'Not every minute of stored bytes is charged: a look at all buckets takes too long',
          {
            tookMs,
          },
        )
    },
    run: (signal) => chargeAgain(deps, PRODUCT, { restMs: restMs(minuteMs), ...all, signal }),
  }
  return all
}

/** Charges all buckets, a page at a time; then sets what each account must keep. */
async function* lookAtAll(deps: Deps, signal: AbortSignal): AsyncGenerator<readonly Due[]> {
  const { state, power } = deps
  const bytesOf = new Map<string, bigint>()
  for (let after = 0; ;) {
    signal.throwIfAborted()
    const buckets = await bucketsAfter(state, { after, limit: BUCKETS_MAX })
    const last = buckets.at(-1)
    if (last === undefined) break
    after = last
    const looks = await lookApart(deps, buckets)
    for (const { account, bytes } of looks)
      bytesOf.set(account, (bytesOf.get(account) ?? 0n) + bytes)
    yield looks.map((look) => ({ ...look, resource: `s3://${look.name}` }))
  }
  await reserve(state, bytesOf, power)
}

/** After an error it asks for fewer buckets, so that only the faulty bucket fails. */
async function lookApart(deps: Deps, buckets: readonly number[]): Promise<Look[]> {
  try {
    return await lookAtBuckets(deps.state, { ...deps, buckets })
  } catch (error) {
    if (isStateAway(error)) throw error
    const half = buckets.length >> 1
    if (half > 0)
      return [
        ...(await lookApart(deps, buckets.slice(0, half))),
        ...(await lookApart(deps, buckets.slice(half))),
      ]
    deps.log.error('What a bucket stores is not charged: it cannot be looked at', {
      bucket: buckets[0],
      error: messageOf(error),
    })
    return []
  }
}

/** Energy of storing so many bytes for a time, with the overhead of the building, rounded down. */
export const standingEnergy = (bytes: bigint, ms: bigint, power: StoragePower): Nj =>
  nj((bytes * ms * zjPerByteMs(power)) / ZJ_PER_NJ)

/** Zeptojoules of a byte in a millisecond: mW × ms are µJ, of 10¹² bytes, times thousandths of overhead. */
const zjPerByteMs = ({ milliwattsPerTb, pueMilli }: StoragePower): bigint =>
  BigInt(milliwattsPerTb) * BigInt(pueMilli)
const ZJ_PER_NJ = 1_000_000_000_000n

/** Ids of buckets after an id, with deleted buckets that still owe energy. */
async function bucketsAfter(
  state: Queryable,
  page: { after: number; limit: number },
): Promise<number[]> {
  const { rows } = await state.query<{ id: number }>(
    `(select id from buckets where id > $1 order by id limit $2)
     union
     (select bucket from storage_samples where bucket > $1 and account is not null
       order by bucket limit $2)
     order by id limit $2`,
    [page.after, page.limit],
  )
  return rows.map(({ id }) => id)
}

/** Samples buckets by id; see storage_look(). */
export async function lookAtBuckets(
  state: Queryable,
  page: { minuteMs: number; buckets: readonly number[]; power: StoragePower },
): Promise<Look[]> {
  const { rows } = await state.query<LookRow>('select * from storage_look($1, $2, $3)', [
    page.minuteMs,
    page.buckets,
    String(zjPerByteMs(page.power)),
  ])
  return rows.map((row) => ({
    bucket: row.bucket,
    name: row.name,
    account: row.account,
    bytes: BigInt(row.bytes),
    energyNj: nj(BigInt(row.energy_nj)),
    fromMs: Number(row.from_ms),
    toMs: Number(row.to_ms),
  }))
}
type LookRow = {
  bucket: number
  name: string
  account: string
  bytes: string
  energy_nj: string
  from_ms: string
  to_ms: string
}

/** Sets what each account must keep of its balance, by its stored bytes. */
async function reserve(
  state: Queryable,
  bytesOf: ReadonlyMap<string, bigint>,
  power: StoragePower,
): Promise<void> {
  const storing = [...bytesOf].filter(([, bytes]) => bytes > 0n)
  await state.query('select storage_reserve($1, $2)', [
    storing.map(([account]) => account),
    storing.map(([, bytes]) => String(standingEnergy(bytes, RESERVE_DAYS * DAY_MS, power))),
  ])
}
