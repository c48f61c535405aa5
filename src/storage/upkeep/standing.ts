// The standing charge: what is stored costs energy while nobody asks for it. One charge for each bucket
// and minute, by the same leases, journal and receipts as any request. What a minute is for adds up in the
// bucket's sample until it is worth a charge (1 pUSD, or an hour), and is taken out of it by storage_look()
// before it is charged, so that no minute is charged twice.
//
// The energy is taken out of what the meters showed and no request used (the disks' idle power): its part
// is of the meter `storage`, which has no readings of its own, so no energy is in the books twice.
import { nj, type Nj } from '#base/units.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Charging } from '#charging/charging.ts'
import type { Payer } from '#charging/spend.ts'
import type { Queryable } from '#state/connect.ts'

export type StoragePower = {
  /** Power of storing 10¹² bytes, in milliwatts. */
  readonly milliwattsPerTb: number
  readonly pueMilli: number
}

/** A bucket at one look: what is stored, and what is charged now. */
export type Look = {
  readonly bucket: number
  readonly name: string
  readonly account: string
  /** All versions, and parts of uploads that are not completed yet. */
  readonly bytes: bigint
  /** Of this minute and of those before that were not worth a charge; 0 where nothing is charged now. */
  readonly energyNj: Nj
  /** From the beginning of the first of these minutes to the end of the last. */
  readonly fromMs: number
  readonly toMs: number
}

export interface Standing {
  /** Looks at all buckets and charges what is due. */
  charge(signal: AbortSignal): Promise<void>
}

/** Days of what is stored that a balance must pay for, or nothing more is stored: time to fetch it. */
const RESERVE_DAYS = 7n
const DAY_MS = 86_400_000n
/** Of the source of the default: 650 mW a disk is 46 % below 1200 mW an SSD. */
const BAND_PCT = 50
const METER = 'storage'
/** Buckets of one look; their charges wait for one tick together. */
const BUCKETS_MAX = 500

export function createStanding(deps: {
  state: Queryable
  charging: Charging
  payerOf: (account: string) => Payer | Promise<Payer>
  log: Logger
  power: StoragePower
  minuteMs: number
}): Standing {
  const { state, charging, payerOf, log, power, minuteMs } = deps

  /** Says what went wrong, but for a wallet that is empty. */
  async function chargeLook(look: Look): Promise<unknown> {
    const { energyNj } = look
    if (energyNj === 0n) return undefined
    const work = charging.open({ fromMs: look.fromMs, toMs: look.toMs })
    try {
      await work.admit(await payerOf(look.account), 'storage.standing', energyNj)
      const isWhole = await work.fill()
      work.served({ resource: `s3://${look.name}` })
      work.claim({ kind: 'upstream', meter: METER, method: 'model', bandPct: BAND_PCT, energyNj })
      // What an empty wallet does not cover is the operator's: it is not asked for later.
      work.settle(isWhole ? 200 : 402)
      return undefined
    } catch (error) {
      work.drop()
      return isUncovered(error) ? undefined : error
    }
  }

  return {
    async charge(signal) {
      const bytesOf = new Map<string, bigint>()
      let after = 0
      for (;;) {
        signal.throwIfAborted()
        const looks = await lookAtBuckets(state, { minuteMs, after, limit: BUCKETS_MAX, power })
        const faults = (await Promise.all(looks.map(chargeLook))).filter(Boolean)
        if (faults.length > 0)
          log.warn('A minute of stored bytes is not charged', {
            buckets: faults.length,
            error: messageOf(faults[0]),
          })
        for (const { account, bytes } of looks)
          bytesOf.set(account, (bytesOf.get(account) ?? 0n) + bytes)
        const last = looks.at(-1)
        if (last === undefined) break
        after = last.bucket
      }
      await reserve(state, bytesOf, power)
    },
  }
}

/** Energy of storing so many bytes for a time, with the overhead of the building, rounded down. */
export const standingEnergy = (bytes: bigint, ms: bigint, power: StoragePower): Nj =>
  nj((bytes * ms * zjPerByteMs(power)) / ZJ_PER_NJ)

/** Zeptojoules of a byte in a millisecond: mW × ms are µJ, of 10¹² bytes, times thousandths of overhead. */
const zjPerByteMs = ({ milliwattsPerTb, pueMilli }: StoragePower): bigint =>
  BigInt(milliwattsPerTb) * BigInt(pueMilli)
const ZJ_PER_NJ = 1_000_000_000_000n

/** Looks at the buckets by id after one, up to `limit`; see storage_look(). */
export async function lookAtBuckets(
  state: Queryable,
  page: { minuteMs: number; after: number; limit: number; power: StoragePower },
): Promise<Look[]> {
  const { rows } = await state.query<LookRow>('select * from storage_look($1, $2, $3, $4)', [
    page.minuteMs,
    page.after,
    page.limit,
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

/** Says what each account must keep of its balance, by what it stores. */
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

const isUncovered = (error: unknown): boolean =>
  error instanceof ErgonError &&
  (error.code === 'balance_depleted' || error.code === 'free_tier_exceeded')
