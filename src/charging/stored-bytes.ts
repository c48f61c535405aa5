// The standing charge of stored bytes, for each product that stores. One charge for each thing and minute, by the same
// leases, journal and receipts as requests. The energy of minutes adds up in the thing's sample until it is worth a
// charge (1 J, or a day). standing_look() takes it out of the sample before the charge, so no minute is charged twice.
//
// The energy is a part of the measured energy that no request used (the idle power of disks). The meter of its part
// has the product's name and no readings of its own, so no energy is in the books twice.
import { nj, type Nj } from '#base/units.ts'
import type { Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { OperationName } from '#contract/operations.ts'
import {
  chargeAgain,
  standing,
  type StandingDue,
  type StandingDeps,
  type StandingProduct,
} from './standing.ts'

export type StoragePower = {
  /** Power of storing 10¹² bytes, in milliwatts. */
  readonly milliwattsPerTb: number
  readonly pueMilli: number
}

/** A sample of a bucket or a database: stored bytes, and the energy to charge now. */
export type StoredSample = {
  readonly id: string
  readonly name: string
  readonly account: string
  readonly bytes: bigint
  /** The energy of this minute and of earlier uncharged ones; 0 when nothing is charged now. */
  readonly energyNj: Nj
  /** The time that is charged: from the start of the first minute to the end of the last. */
  readonly fromMs: number
  readonly toMs: number
}

/** A row that standing_look() returns. */
export type StoredSampleRow = {
  readonly id: string
  readonly name: string
  readonly account: string
  readonly bytes: string
  readonly energy_nj: string
  readonly from_ms: string
  readonly to_ms: string
}

/** The stored things of a product. */
export type StoredKind<Id> = {
  readonly operation: OperationName
  /** The product's name, which has no readings. */
  readonly meter: string
  /** In log lines: "stored bytes". */
  readonly name: string
  /** Ids after an id (undefined: the first), with deleted things that still owe energy. */
  readonly after: (last: Id | undefined, limit: number) => Promise<Id[]>
  /** Samples the stored bytes of these ids by standing_look(). */
  readonly look: (ids: readonly Id[]) => Promise<StoredSample[]>
  /** As receipts name it. */
  readonly resource: (look: StoredSample) => string
  /** True of an error that every query would have now. */
  readonly isAway: (error: unknown) => boolean
  /** Called with the stored bytes of each account, after all samples. */
  readonly sums?: (bytesOf: ReadonlyMap<string, bigint>) => Promise<void>
}

export type StoredBytesDeps = StandingDeps & {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly minuteMs: number
}

export interface StoredBytes {
  /** Samples all and charges what is due. */
  charge(signal: AbortSignal): Promise<void>
  /** Charges again and again until the signal aborts. A failed round is logged; the next one charges its minutes. */
  run(signal: AbortSignal): Promise<void>
}

/** The band of the default's source: 650 mW of a disk is 46 % below 1200 mW of an SSD. */
const BAND_PCT = 50
/** Things of one query; their charges wait for one tick together. */
const PAGE = 500
const ZJ_PER_NJ = 1_000_000_000_000n

/** The delay between rounds. A late round still finds its minute. */
const restMs = (minuteMs: number): number => minuteMs / 2

export function createStoredBytes<Id>(deps: StoredBytesDeps, kind: StoredKind<Id>): StoredBytes {
  const { clock, log, minuteMs } = deps
  const { operation, name } = kind
  const product: StandingProduct = {
    operation,
    name,
    meter: kind.meter,
    known: { method: 'model', bandPct: BAND_PCT },
  }
  const all: StoredBytes = {
    async charge(signal) {
      const begunMs = clock.monotonicMs()
      await standing(deps, product, lookAtAll(deps, kind, signal))
      const tookMs = Math.round(clock.monotonicMs() - begunMs)
      if (tookMs + restMs(minuteMs) > minuteMs)
        log.warn(`Not every minute of ${name} is charged: a look at all of them takes too long`, {
          tookMs,
        })
    },
    run: (signal) => chargeAgain(deps, product, { restMs: restMs(minuteMs), ...all, signal }),
  }
  return all
}

/** Charges all, a page at a time. */
async function* lookAtAll<Id>(
  deps: StoredBytesDeps,
  kind: StoredKind<Id>,
  signal: AbortSignal,
): AsyncGenerator<readonly StandingDue[]> {
  const bytesOf = new Map<string, bigint>()
  for (let last: Id | undefined; ;) {
    signal.throwIfAborted()
    const ids = await kind.after(last, PAGE)
    last = ids.at(-1)
    if (last === undefined) break
    const looks = await lookApart(deps, kind, ids)
    for (const { account, bytes } of looks)
      bytesOf.set(account, (bytesOf.get(account) ?? 0n) + bytes)
    yield looks.map((look) => ({ ...look, resource: kind.resource(look) }))
  }
  await kind.sums?.(bytesOf)
}

/** After an error it asks for fewer, so that only the faulty one fails. */
async function lookApart<Id>(
  deps: StoredBytesDeps,
  kind: StoredKind<Id>,
  ids: readonly Id[],
): Promise<StoredSample[]> {
  try {
    return await kind.look(ids)
  } catch (error) {
    if (kind.isAway(error)) throw error
    const half = ids.length >> 1
    if (half > 0)
      return [
        ...(await lookApart(deps, kind, ids.slice(0, half))),
        ...(await lookApart(deps, kind, ids.slice(half))),
      ]
    deps.log.error(`A minute of ${kind.name} is not charged: the sample failed`, {
      id: ids[0],
      error: messageOf(error),
    })
    return []
  }
}

/** Energy of storing bytes for a time, with the overhead of the building, rounded down. */
export const standingEnergy = (bytes: bigint, ms: bigint, power: StoragePower): Nj =>
  nj((bytes * ms * zjPerByteMs(power)) / ZJ_PER_NJ)

/** Zeptojoules of a byte in a millisecond: mW × ms are µJ, of 10¹² bytes, times thousandths of overhead. */
export const zjPerByteMs = ({ milliwattsPerTb, pueMilli }: StoragePower): bigint =>
  BigInt(milliwattsPerTb) * BigInt(pueMilli)

export const storedLookOf = (row: StoredSampleRow): StoredSample => ({
  id: row.id,
  name: row.name,
  account: row.account,
  bytes: BigInt(row.bytes),
  energyNj: nj(BigInt(row.energy_nj)),
  fromMs: Number(row.from_ms),
  toMs: Number(row.to_ms),
})
