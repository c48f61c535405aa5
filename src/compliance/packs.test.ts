// Packs on a real state: whose turn it is, when their time is settled, and what is left of deleted and old ones.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sleep, systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { nj } from '#base/units.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import type { State } from '#state/connect.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { chargeOf } from '#tlog/charge.fixture.ts'
import { fault } from '#contract/errors.ts'
import { buildPack } from './build/build-pack.ts'
import { createPacks } from './build/follow-packs.ts'
import { NotSettled, type PackWork } from './build/pack-work.ts'
import { settlePack } from './build/settled.ts'
import { openSealedLog, type SealedLog } from './sealed-log.fixture.ts'

const options = { skip: whyNoState(), timeout: 120_000 }
const MOST = 5
const ACCOUNT = 'acct_1'
const FROM = new Date('2026-11-21T10:00:00.000Z')
const TO = new Date('2026-11-21T11:00:00.000Z')

let server: TestUrl
let state: State
let log: SealedLog
before(async () => {
  if (options.skip !== false) return
  server = await openTestUrl()
  ;({ state } = await openTestState({ urlOf: server.of, schemas: SCHEMAS, connections: 3 }))
  log = await openSealedLog(state)
  for (const id of [ACCOUNT, 'acct_2', 'acct_3'])
    await state.query(`insert into accounts (id, env) values ($1, 'live')`, [id])
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const ON_DISK_ERROR = 'Could not store the bytes: the disk is full'

test('a store that takes nothing fails the pack, and not its process', options, async () => {
  const work = {
    state,
    receipts: createSqlReceiptStore(state),
    pageReceipts: 1000,
    clock: systemClock,
    stores: { target: { put: () => Promise.reject(fault('storage_full', ON_DISK_ERROR)) } },
  } as unknown as PackWork
  const pack = { id: 'pack_1', account: ACCOUNT, from: FROM, to: TO, ceilingNj: nj(1n) }
  const settled = await settlePack(work, pack)
  const call = { mark: () => undefined, progress: () => undefined }
  const built = buildPack(work, settled, { ...call, signal: new AbortController().signal })
  await assert.rejects(built, { code: 'storage_full' })
})

test('a pack whose charges cannot be read fails with a reason', options, async () => {
  await add('pack_1', 'acct_2')
  const damaged: State['query'] = (text, values) =>
    text.includes('as first, account_seq as last')
      ? Promise.reject(new TypeError('a damaged bundle'))
      : state.query(text, values)
  const ending = new AbortController()
  const work = {
    state: { ...state, query: damaged },
    receipts: createSqlReceiptStore(state),
    clock: systemClock,
    sleep,
    log: createLogger('test', { write: () => undefined }),
  } as unknown as PackWork
  const running = createPacks(work).run(ending.signal)
  const reason = async () =>
    (await state.query("select reason from evidence_packs where status = 'failed'")).rows[0]
  for (let tries = 0; tries < 100 && (await reason()) === undefined; tries++)
    await sleep(50, ending.signal)
  ending.abort()
  await running
  assert.match(String((await reason())?.['reason']), /could not make it now/)
  await state.query('delete from evidence_packs')
})

test('an account that is being deleted gets no pack', options, async () => {
  await state.query("insert into accounts (id, env) values ('acct_4', 'test')")
  await state.query("select ask_deletion('acct_4', '0 s')")
  await assert.rejects(add('pack_1', 'acct_4'), { code: 'EG029' })
})

const add = (id: string, account: string) =>
  state.query('select add_pack($1, $2, $3, $4, 1000000000000, 1, $5)', [
    id,
    account,
    FROM,
    TO,
    MOST,
  ])
const next = async () =>
  (await state.query<{ id: string }>('select id from next_pack()')).rows[0]?.id

test('accounts take turns, a pack that waits lets others go first', options, async () => {
  for (const nth of [1, 2, 3]) await add(`pack_a${nth}`, 'acct_2')
  await add('pack_b1', 'acct_3')
  const order: unknown[] = []
  await state.query("select postpone_pack('pack_a2', 'not yet', 60000)")
  for (let id = await next(); id !== undefined; id = await next()) {
    order.push(id)
    const { rows } = await state.query('select start_pack($1) as attempts', [id])
    assert.equal(rows[0]?.['attempts'], 1)
    await state.query("update evidence_packs set status = 'failed' where id = $1", [id])
  }
  assert.deepEqual(order, ['pack_a1', 'pack_b1', 'pack_a3'])
  await state.query('delete from evidence_packs')
})

test(
  'an account has so many open packs and no more, however many ask at once',
  options,
  async () => {
    const asked = Array.from({ length: 3 * MOST }, (_, nth) => add(`pack_${nth}`, 'acct_2'))
    const done = await Promise.allSettled(asked)
    const refused = done.filter((one) => one.status === 'rejected')
    assert.equal(refused.length, 2 * MOST)
    for (const { reason } of refused) assert.equal((reason as { code: string }).code, 'EG022')
    await state.query('delete from evidence_packs')
  },
)

test('a deleted pack cannot be started or finished, and gives up its file', options, async () => {
  await add('pack_1', 'acct_2')
  const stored = { id: randomUUID(), location: 'fs', size: 7, checksum: 'x' }
  const finish = async (id: string) =>
    (
      await state.query<{ kept: boolean }>("select finish_pack($1, $2, 'sum') as kept", [
        id,
        JSON.stringify(stored),
      ])
    ).rows[0]?.kept
  assert.equal(await finish('pack_1'), false)
  await state.query("select start_pack('pack_1')")
  assert.equal(await finish('pack_1'), true)
  assert.equal(await finish('pack_1'), false)
  const events = await state.query<{ type: string; data: object }>(
    "select type, data from events where account = 'acct_2'",
  )
  assert.partialDeepStrictEqual(events.rows, [
    { data: { pack_id: 'pack_1', from: FROM.toISOString(), to: TO.toISOString() } },
  ])
  await state.query("update evidence_packs set ended_at = ledger_now() - interval '91 days'")
  assert.equal((await state.query('select expire_packs(92, 10) as n')).rows[0]?.['n'], 0)
  assert.equal((await state.query('select expire_packs(90, 10) as n')).rows[0]?.['n'], 1)
  assert.equal((await state.query('select from blobs')).rowCount, 0)
  const garbage = await state.query('select id from blob_garbage')
  assert.deepEqual(garbage.rows, [{ id: stored.id }])
  const { rows } = await state.query("select start_pack('pack_1') as attempts")
  assert.equal(rows[0]?.['attempts'], null)
})

test(
  'a time is settled once all of it is posted and signed, with its neighbours',
  options,
  async () => {
    const work = { state, receipts: createSqlReceiptStore(state) } as PackWork
    const settled = (to = TO) =>
      settlePack(work, { id: 'pack_1', account: ACCOUNT, from: FROM, to, ceilingNj: nj(1n) })
    const at = (nth: number, time: string) => ({ ...chargeOf(nth), from: time, to: time })
    assert.equal((await settled()).range, undefined)
    await assert.rejects(settled(new Date()), NotSettled)
    // The third ended before the second, which is outside of the time.
    await log.post([
      at(0, '2026-11-21T09:59:59.999Z'),
      at(1, '2026-11-21T10:00:00.000Z'),
      at(2, '2026-11-21T11:00:00.000Z'),
      at(3, '2026-11-21T10:59:59.999Z'),
    ])
    await assert.rejects(settled(), /not signed yet/)
    await log.seal()
    assert.deepEqual((await settled()).range, { first: 1n, last: 4n })
    await log.post([at(4, '2026-11-21T11:00:01.000Z')])
    assert.deepEqual((await settled()).range, { first: 1n, last: 4n })
    await log.seal()
    assert.deepEqual((await settled()).range, { first: 1n, last: 5n })
    const open = (opened: string) =>
      state.query(
        `insert into sessions (id, process, life, opened_at, until) values ('gw-9.1', 'gw-9', 1, $1, $1::timestamptz)`,
        [opened],
      )
    await open('2026-11-21T10:30:00Z')
    await assert.rejects(settled(), /a process has not reported since its end/)
    await state.query("update sessions set closed_at = now() where id = 'gw-9.1'")
    assert.deepEqual((await settled()).range, { first: 1n, last: 5n })
    await state.query("delete from sessions where id = 'gw-9.1'")
    await open('2026-11-21T11:00:00Z')
    assert.deepEqual((await settled()).range, { first: 1n, last: 5n })
  },
)

test('orderly restarts are no attempts of a pack, however many there are', options, async () => {
  await add('pack_1', 'acct_3')
  for (let restart = 1; restart <= 4; restart++) {
    const ending = new AbortController()
    const work = {
      state,
      receipts: createSqlReceiptStore(state),
      log: createLogger('test', { level: 'error', write: () => undefined }),
      charging: { open: () => ({ drop: () => undefined }) },
      postCharges: async () => undefined,
      sleep,
      // The stop comes in the middle of the work.
      payerOf: () => {
        ending.abort()
        throw ending.signal.reason
      },
    } as unknown as PackWork
    await createPacks(work).run(ending.signal)
    const { rows } = await state.query('select status, attempts from evidence_packs')
    assert.deepEqual(rows, [{ status: 'waiting', attempts: 0 }], `restart ${restart}`)
  }
  await state.query('delete from evidence_packs')
})

test('an attempt has what the attempt before it left of the ceiling', options, async () => {
  await add('pack_1', 'acct_3')
  const ceilings: bigint[] = []
  const charge = { ...chargeOf(100), account: 'acct_3', resource: 'pack:pack_1' }
  const unposted: Charge[] = []
  const away = () => fault('state_unavailable', 'Could not ask the state: its answer is lost')
  let isAway = true
  const query: State['query'] = async (text, values) => {
    // The end of the first attempt is not written, so the same process makes another one.
    if (text.includes("set status = 'failed'") && isAway) {
      isAway = false
      throw away()
    }
    return await state.query(text, values)
  }
  const work = {
    state: { ...state, query },
    receipts: createSqlReceiptStore(state),
    log: createLogger('test', { level: 'error', write: () => undefined }),
    charging: {
      open: () => ({
        drop: () => undefined,
        admit(_payer: unknown, _operation: unknown, ceiling: bigint) {
          if (ceilings.push(ceiling) === 1) unposted.push(charge)
          throw away()
        },
      }),
    },
    postCharges: async () => {
      if (unposted.length > 0) await log.post(unposted.splice(0))
    },
    payerOf: () => ({ account: 'acct_3', env: 'live', funded: true }),
    sleep: (_ms: number, signal: AbortSignal) => sleep(1, signal),
  } as unknown as PackWork
  const ending = new AbortController()
  const running = createPacks(work).run(ending.signal)
  const limit = AbortSignal.timeout(20_000)
  while (ceilings.length < 2) await sleep(20, limit)
  ending.abort()
  await running
  const [first = 0n, second = 0n] = ceilings
  assert.equal(first - second, BigInt(charge.energy_nj))
  await state.query('delete from evidence_packs')
})
