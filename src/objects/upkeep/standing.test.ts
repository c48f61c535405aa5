import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { createLogger } from '#base/log.ts'
import { fitReserves } from '#ledger/reserves.ts'
import { nj, priceOf } from '#base/units.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { connectState, type State } from '#state/connect.ts'
import { ACCOUNT, OTHER, makeBucket, openStore, type Store } from '#objects/store.fixture.ts'
import type { Bucket } from '#objects/types.ts'
import { standingEnergy } from '#charging/stored-bytes.ts'
import {
  MINUTE_MS,
  openBooks,
  openCell,
  PUSD_PER_J,
  standingCharges,
  type TestCell,
} from './standing.fixture.ts'

const skip = whyNoState()
const RUNS = Number(process.env['ERGON_RUNS'] ?? 15)
const { signal } = new AbortController()
const START_MS = Date.parse('2026-03-01T00:00:00Z')
/** A byte for a minute is 60.06 nJ: odd numbers show how they are rounded. 16,650,017 of them are worth a charge. */
const POWER = { milliwattsPerTb: 1_000_000, pueMilli: 1001 }
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const WORTH_NJ = 1_000_000_000n
const ZJ_PER_NJ = 1_000_000_000_000n
let server: TestUrl
let store: Store
/** One connection of each cell, whose time the test sets. */
const looks: State[] = []
const cells: TestCell[] = []

before(async () => {
  if (skip !== false) return
  server = await openTestUrl()
  store = await openStore(server.of, 6)
  await openBooks(store.state)
  const log = createLogger('test', { level: 'error' })
  for (const process of ['storage-1', 'storage-2']) {
    const own = connectState({ address: { url: store.url }, connections: 1, log })
    looks.push(own)
    cells.push(await openCell({ process, state: store.state, looks: own, power: POWER }))
  }
})
beforeEach(async () => {
  if (skip !== false) return
  await fitReserves(store.state, { kind: 'retention', source: 'bucket', energies: new Map() })
  await store.state.query('truncate buckets, bucket_usage, standing_samples')
})
after(async () => {
  for (const cell of cells) await cell.close()
  for (const own of looks) await own[Symbol.asyncDispose]()
  await store?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

async function at(nowMs: number): Promise<void> {
  const now = new Date(nowMs).toISOString()
  for (const own of looks) await own.query("select set_config('ergon.now', $1, false)", [now])
}

/** The bytes that the bucket stores from now on. */
const stores = (bucket: Bucket, bytes: number) =>
  store.state.query(
    `insert into bucket_usage (bucket, stripe, bytes, versions) values ($1, 0, $2, 1)
     on conflict (bucket, stripe) do update set bytes = excluded.bytes`,
    [bucket.id, bytes],
  )

const cellAt = (number: number): TestCell => {
  const cell = cells[number]
  assert.ok(cell)
  return cell
}

async function chargesOf(bucket: Bucket): Promise<Charge[]> {
  for (const cell of cells) await cell.posted()
  const all = await standingCharges(store.state)
  return all.filter(({ resource }) => resource === `s3://${bucket.name}`)
}

async function faults(): Promise<unknown> {
  const { rows } = await store.state.query<{ faults: unknown }>('select reconcile() as faults')
  return rows[0]?.faults
}

const spanOf = ({ from, to }: Charge) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) })

test('standingEnergy() is bytes times power times time, and never more in pieces', () => {
  const hour = { bytes: 1_000_000_000_000n, ms: 3_600_000n }
  const ssd = { milliwattsPerTb: 1200, pueMilli: 1000 }
  assert.equal(standingEnergy(hour.bytes, hour.ms, ssd), 4_320_000_000_000n, '1.2 Wh are 4320 J')
  assert.equal(standingEnergy(hour.bytes, hour.ms, { ...ssd, pueMilli: 1500 }), 6_480_000_000_000n)
  assert.equal(standingEnergy(0n, hour.ms, ssd), 0n)
  const size = fc.bigInt({ min: 0n, max: 1n << 60n })
  const time = fc.bigInt({ min: 0n, max: 120_000n })
  const power = fc.record({
    milliwattsPerTb: fc.integer({ min: 0, max: 10_000_000 }),
    pueMilli: fc.integer({ min: 1000, max: 3000 }),
  })
  fc.assert(
    fc.property(size, time, time, power, (bytes, one, two, given) => {
      const whole = standingEnergy(bytes, one + two, given)
      const pieces = standingEnergy(bytes, one, given) + standingEnergy(bytes, two, given)
      assert.ok(pieces <= whole && whole - pieces <= 1n)
    }),
  )
})

type Step =
  | { readonly kind: 'store'; readonly bytes: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'look' | 'kill'; readonly cell: number }
  | { readonly kind: 'both' }

const cellNumber = fc.integer({ min: 0, max: 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('store' as const),
    bytes: fc.oneof(
      fc.constant(0),
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 14_000_000 }) },
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 200_000_000 }),
    ),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.oneof(
        fc.constant(30_000),
        { weight: 3, arbitrary: fc.integer({ min: 20_000, max: 80_000 }) },
        fc.integer({ min: 60_000, max: 300_000 }),
        fc.integer({ min: DAY_MS / 2, max: DAY_MS }),
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('look' as const), cell: cellNumber }),
  },
  fc.record({ kind: fc.constant('kill' as const), cell: cellNumber }),
  fc.constant({ kind: 'both' as const }),
)

type Expecting = { fromMs: number; toMs: number; energy: bigint }

/**
 * The expected charges, by the rule: each minute is charged once, for the lesser of the bytes at its two ends.
 * Minutes too small for a charge wait for the next ones, for a day at most.
 */
class Expected {
  bytes = 0
  nowMs = START_MS
  readonly charges: Expecting[] = []
  /** The energy of all minutes, charged or not. */
  totalZj = 0n
  #dueZj = 0n
  #due: { fromMs: number; toMs: number } | undefined
  #look: { ms: number; bytes: number } | undefined

  look(): void {
    const minute = (ms: number) => Math.floor(ms / MINUTE_MS)
    const before = this.#look
    if (before !== undefined && minute(this.nowMs) <= minute(before.ms)) return
    this.#look = { ms: this.nowMs, bytes: this.bytes }
    if (before !== undefined && minute(this.nowMs) === minute(before.ms) + 1) {
      const bytes = Math.min(before.bytes, this.bytes)
      if (bytes > 0) this.#grow(bytes, before.ms)
    }
    const isOld = this.#due !== undefined && this.nowMs - this.#due.fromMs >= DAY_MS
    if (isOld || this.#dueZj / ZJ_PER_NJ >= WORTH_NJ) this.charge()
  }

  #grow(bytes: number, fromMs: number): void {
    const { milliwattsPerTb, pueMilli } = POWER
    const zj = BigInt(bytes) * BigInt(this.nowMs - fromMs) * BigInt(milliwattsPerTb * pueMilli)
    this.#dueZj += zj
    this.totalZj += zj
    this.#due = { fromMs: this.#due?.fromMs ?? fromMs, toMs: this.nowMs }
  }

  charge(): void {
    if (this.#due === undefined || this.#dueZj < ZJ_PER_NJ) return
    this.charges.push({ ...this.#due, energy: this.#dueZj / ZJ_PER_NJ })
    this.#dueZj %= ZJ_PER_NJ
    this.#due = undefined
  }
}

/** All that is stored is charged to the last nanojoule, and no two charges are of one time. */
function assertWhole(charges: readonly Expecting[], { totalZj }: Expected): void {
  const energy = charges.reduce((sum, one) => sum + one.energy, 0n)
  assert.equal(energy, totalZj / ZJ_PER_NJ)
  for (const [at, { fromMs, toMs }] of charges.entries())
    assert.ok(fromMs < toMs && fromMs >= (charges[at - 1]?.toMs ?? 0))
}

async function take(one: Step, bucket: Bucket, expected: Expected): Promise<void> {
  switch (one.kind) {
    case 'store':
      expected.bytes = one.bytes
      await stores(bucket, one.bytes)
      return
    case 'pass':
      expected.nowMs += one.ms
      await at(expected.nowMs)
      return
    case 'look':
      expected.look()
      return await cellAt(one.cell).standing.charge(signal)
    case 'both':
      expected.look()
      return void (await Promise.all(cells.map((cell) => cell.standing.charge(signal))))
    case 'kill':
      return await cellAt(one.cell).killed()
  }
}

let bucketCount = 0
test(
  'each minute is charged once, for the least that was stored, by two cells that are killed, to the last nanojoule',
  { skip },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const bucket = await makeBucket(store, `standing-${bucketCount++}`)
        const expected = new Expected()
        await at(expected.nowMs)
        await take({ kind: 'store', bytes: 1000 }, bucket, expected)
        for (const one of steps) await take(one, bucket, expected)
        await store.buckets.delete(bucket)
        expected.charge()
        await Promise.all(cells.map((cell) => cell.standing.charge(signal)))
        const charges = (await chargesOf(bucket))
          .map((one) => ({ ...spanOf(one), energy: BigInt(one.energy_nj) }))
          .toSorted((a, b) => a.fromMs - b.fromMs)
        assert.deepEqual(charges, expected.charges)
        assertWhole(charges, expected)
        const { rowCount } = await store.state.query('select from standing_samples')
        assert.equal(rowCount, 0, 'nothing is left of what was deleted')
      }),
      // A run takes half a second: to shrink one that fails would take minutes.
      { numRuns: RUNS, endOnFailure: true },
    )
    assert.deepEqual(await faults(), [])
  },
)

test('bytes that are not worth a charge wait until they are, or for a day', { skip }, async () => {
  const tiny = await makeBucket(store, 'standing-tiny')
  const small = await makeBucket(store, 'standing-small')
  await stores(tiny, 1)
  await stores(small, 6_000_000)
  for (let minute = 0; minute <= 60; minute++) {
    await at(START_MS + minute * MINUTE_MS)
    await cellAt(0).standing.charge(signal)
  }
  assert.deepEqual(await chargesOf(tiny), [])
  const charges = await chargesOf(small)
  assert.ok(2n * 360_360_000n < WORTH_NJ && 3n * 360_360_000n > WORTH_NJ)
  assert.equal(charges.length, 20, 'three minutes are worth a charge')
  for (const { energy_nj } of charges) assert.equal(energy_nj, '1081080000')
  for (const ms of [DAY_MS - MINUTE_MS, DAY_MS]) {
    assert.deepEqual(await chargesOf(tiny), [])
    await at(START_MS + ms)
    await cellAt(0).standing.charge(signal)
  }
  const [charge, ...others] = await chargesOf(tiny)
  assert.ok(charge !== undefined && others.length === 0)
  assert.deepEqual(spanOf(charge), { fromMs: START_MS, toMs: START_MS + DAY_MS })
  assert.equal(charge.energy_nj, '3663', 'sixty-one minutes were seen')
})

test(
  'a charge says what it is for, and all its energy is of what is stored',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'standing-receipt')
    await stores(bucket, 17_000_000)
    for (const ms of [0, MINUTE_MS]) {
      await at(START_MS + ms)
      await cellAt(0).standing.charge(signal)
    }
    const [charge, ...others] = await chargesOf(bucket)
    assert.ok(charge !== undefined && others.length === 0)
    assert.equal(charge.account, ACCOUNT)
    assert.equal(charge.status, 200)
    assert.equal(charge.energy_nj, '1021020000')
    assert.deepEqual(charge.parts, [
      { band_pct: '40', energy_nj: '0', meter: 'node', method: 'model' },
      { band_pct: '50', energy_nj: '1021020000', meter: 'storage', method: 'model' },
    ])
    assert.equal(charge.token, undefined)
  },
)

test(
  'an empty wallet pays what it has, the rest is written off, and nothing more is stored before that',
  { skip },
  async () => {
    const { state } = store
    const minuteNj = nj(1_201_200_000n)
    const minutePusd = priceOf(minuteNj, PUSD_PER_J)
    const funds = (minutePusd * 5n) / 2n
    await state.query("select grant_funds($1, $2, 'funds', 50, 'top_up')", [OTHER, String(funds)])
    const given = { name: 'standing-poor', account: OTHER, region: 'local' }
    const { bucket } = await store.buckets.create({
      ...given,
      objectLock: false,
      configurations: {},
    })
    await stores(bucket, 20_000_000)
    assert.equal((await store.buckets.get(bucket.name)).isReadOnly, false)
    const isReadOnly = []
    for (let minute = 0; minute <= 4; minute++) {
      await at(START_MS + minute * MINUTE_MS)
      await cellAt(0).standing.charge(signal)
      isReadOnly.push((await store.buckets.get(bucket.name)).isReadOnly)
      for (const cell of cells) await cell.posted()
    }
    assert.deepEqual(isReadOnly, [true, true, true, true, true])
    const charges = await chargesOf(bucket)
    assert.deepEqual(
      charges.map(({ status }) => status),
      [200, 200, 402],
      'the fourth minute found nothing',
    )
    const paid = charges.reduce((sum, one) => sum + BigInt(one.charge_pusd), 0n)
    assert.equal(paid, funds)
    const { rows } = await state.query<{ posted: string }>(
      'select posted from wallets where id = $1',
      [`money:${OTHER}`],
    )
    assert.equal(rows[0]?.posted, '0')
    assert.deepEqual(await faults(), [])

    // A week of 1.2 J a minute, and some: from then on at once.
    const week = priceOf(nj(minuteNj * 60n * 24n * 7n), PUSD_PER_J)
    await state.query("select grant_funds($1, $2, 'funds', 50, 'top_up')", [
      OTHER,
      String(week + 1n),
    ])
    assert.equal((await store.buckets.get(bucket.name)).isReadOnly, false)
  },
)
