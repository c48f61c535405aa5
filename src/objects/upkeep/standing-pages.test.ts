// The rounds of the standing charge: many buckets, and buckets that something is wrong with.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sleep, systemClock } from '#base/clock.ts'
import { fitReserves } from '#ledger/reserves.ts'
import { createLogger } from '#base/log.ts'
import { createPayers } from '#identity/payers.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { connectState, type Queryable, type State } from '#state/connect.ts'
import { ACCOUNT, askedOnce, makeBucket, openStore, type Store } from '#objects/store.fixture.ts'
import { lookAtStored } from '#node/stored-things.ts'
import { createStanding } from './standing.ts'
import {
  MINUTE_MS,
  openBooks,
  openCell,
  standingCharges,
  type TestCell,
} from './standing.fixture.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const START_MS = Date.parse('2026-03-01T00:00:00Z')
/** A byte for a minute is 60.06 nJ. */
const POWER = { milliwattsPerTb: 1_000_000, pueMilli: 1001 }
/** 1.2 J a minute. */
const BYTES = 20_000_000
const LIMIT_MS = 60_000
let server: TestUrl
let store: Store
/** One connection, whose time the test sets. */
let connection: State
let looks: Queryable
let cell: TestCell

before(async () => {
  if (skip !== false) return
  server = await openTestUrl()
  store = await openStore(server.of, 6)
  await openBooks(store.state)
  connection = connectState({
    address: { url: store.url },
    connections: 1,
    log: createLogger('test', { level: 'error' }),
  })
  looks = askedOnce(connection)
  cell = await openCell({ process: 'storage-1', state: store.state, looks, power: POWER })
})
beforeEach(async () => {
  if (skip !== false) return
  await fitReserves(store.state, { kind: 'retention', source: 'bucket', energies: new Map() })
  await store.state.query('truncate buckets, bucket_usage, standing_samples')
})
after(async () => {
  await cell?.close()
  await connection?.[Symbol.asyncDispose]()
  await store?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const at = (nowMs: number) =>
  looks.query("select set_config('ergon.now', $1, false)", [new Date(nowMs).toISOString()])

/** Makes buckets that store so much. */
async function makeBuckets(prefix: string, count: number): Promise<void> {
  await store.state.query(
    `with made as (
       insert into buckets (name, account, region)
       select $1 || n, $2, 'local' from generate_series(1, $3::int) n returning id
     )
     insert into bucket_usage (bucket, stripe, bytes, versions) select id, 0, $4, 1 from made`,
    [prefix, ACCOUNT, count, BYTES],
  )
}

async function resources(): Promise<unknown[]> {
  await cell.posted()
  return (await standingCharges(store.state)).map(({ resource }) => resource)
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const last = performance.now() + LIMIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < last, what)
    await sleep(20)
  }
}

test('more bytes than 2⁶³ of bytes times milliseconds are charged', { skip }, async () => {
  const bucket = await makeBucket(store, 'enormous')
  const bytes = 10n ** 17n
  await store.state.query('insert into bucket_usage values ($1, 0, $2, 1)', [
    bucket.id,
    String(bytes),
  ])
  await store.state.query('insert into bucket_usage values ($1, 1, $2, 1)', [
    bucket.id,
    String(2n ** 63n - 1n),
  ])
  const stored = bytes + 2n ** 63n - 1n
  const page = { look: 'storage_look', minuteMs: MINUTE_MS, ids: [bucket.id], power: POWER }
  await at(START_MS)
  await lookAtStored(looks, page)
  await at(START_MS + MINUTE_MS)
  const [look] = await lookAtStored(looks, page)
  assert.deepEqual([look?.bytes, look?.energyNj], [stored, (stored * 6006n) / 100n])
})

test('a bucket that cannot be looked at keeps no other from being charged', { skip }, async () => {
  await makeBuckets('beside-', 20)
  await store.state.query(`
    create function planted() returns trigger language plpgsql as $$ begin
      if exists (select from buckets where id = new.id::int and name = 'beside-7')
        then raise exception 'planted'; end if;
      return new;
    end $$;
    create trigger planted before insert or update on standing_samples
      for each row execute function planted()`)
  for (const minute of [0, 1]) {
    await at(START_MS + minute * MINUTE_MS)
    await cell.standing.charge(signal)
  }
  await store.state.query('drop function planted cascade')
  const charged = (await resources()).filter((one) => String(one).startsWith('s3://beside-'))
  assert.equal(new Set(charged).size, 19)
  assert.ok(!charged.includes('s3://beside-7'))
})

test('buckets are looked at while those before them wait for their charges', { skip }, async () => {
  await makeBuckets('many-', 1100)
  const { payerOf } = createPayers({ state: store.state, clock: systemClock })
  const gate = Promise.withResolvers<void>()
  const lines: string[] = []
  let nowMs = 0
  const standing = createStanding({
    retentionDays: 7,
    state: looks,
    charging: cell.charging,
    payerOf: async (account) => {
      await gate.promise
      return await payerOf(account)
    },
    clock: { monotonicMs: () => nowMs },
    log: createLogger('test', { level: 'warn', write: (line) => void lines.push(line) }),
    power: POWER,
    minuteMs: MINUTE_MS,
  })
  await at(START_MS)
  await standing.charge(signal)
  assert.deepEqual(lines, [])
  await at(START_MS + MINUTE_MS)
  const charging = standing.charge(signal)
  await until(async () => {
    const { rows } = await store.state.query('select from standing_samples where at_ms > $1', [
      START_MS,
    ])
    return rows.length === 1100
  }, 'all of them are looked at')
  nowMs += MINUTE_MS / 2 + 1
  gate.resolve()
  await charging
  assert.equal(lines.length, 1, 'the next look may be more than a minute later')
  const charged = (await resources()).filter((one) => String(one).startsWith('s3://many-'))
  assert.deepEqual([charged.length, new Set(charged).size], [1100, 1100])
})
