// The operator's operations that make money, repeated under one key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { voucherHash } from '#payments/voucher-code.ts'
import { voucherHandlers } from './vouchers.ts'

const OPTIONS = { skip: whyNoState() }
const SECRET = 'secret'
const CALL = { signal: new AbortController().signal, progress: () => undefined }
const POINTS = { kind: 'points', priority: 20 } as const
const VOUCHERS = { ...POINTS, pusd: '1000', env: 'test', count: 3, note: '' } as const

let state: State
ledgerOfFile(12, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'owner', env: 'test', lowWater: 0n })
})

const handlers = () => voucherHandlers(state, SECRET)
const grant = async (pusd: string, key?: string) =>
  await handlers()['grant.create'](
    { account: 'owner', pusd, ...POINTS, ...(key && { idempotency_key: key }) },
    CALL,
  )
const vouchers = async (key?: string) =>
  await handlers()['voucher.create']({ ...VOUCHERS, ...(key && { idempotency_key: key }) }, CALL)
const numberOf = async (query: string): Promise<number> =>
  Number((await state.query<{ n: string }>(query)).rows[0]?.n)
const balance = () => numberOf("select posted as n from wallets where id = 'money:owner'")
const acts = () => numberOf("select count(*) as n from audit_entries where action = 'grant.create'")

test('grant.create grants once for its key', OPTIONS, async () => {
  const first = await grant('1000', 'again')
  assert.deepEqual(await grant('1000', 'again'), first)
  assert.deepEqual([await balance(), await acts()], [1000, 1])
  await assert.rejects(grant('2000', 'again'), { code: 'idempotency_key_reused' })
  await grant('1000', 'another')
  await grant('1000')
  await grant('1000')
  assert.deepEqual([await balance(), await acts()], [4000, 4])
})

test('grant.create grants once for its key, asked at once from many sides', OPTIONS, async () => {
  const before = await balance()
  const asked = await Promise.allSettled(Array.from({ length: 10 }, () => grant('5', 'at-once')))
  for (const one of asked)
    if (one.status === 'rejected') assert.equal(one.reason.code, 'idempotency_in_progress')
  await grant('5', 'at-once')
  assert.equal((await balance()) - before, 5)
})

test('voucher.create gives the same codes for its key, and others without', OPTIONS, async () => {
  const first = await vouchers('codes')
  assert.deepEqual(await vouchers('codes'), first)
  assert.equal(await numberOf('select count(*) as n from vouchers'), 3)
  const { rows } = await state.query<{ id: string }>(
    'select v.id from unnest($1::bytea[]) hash join vouchers v on v.code_hash = hash order by 1',
    [first.map(({ code }) => voucherHash(String(code), SECRET))],
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    first.map(({ id }) => id).toSorted(),
  )
  const codes = [...first, ...(await vouchers()), ...(await vouchers('more'))]
  assert.equal(new Set(codes.map(({ code }) => code)).size, 9)
  const { rows: kept } = await state.query(
    "select begun::text from idempotency_keys where key = 'codes'",
  )
  for (const { code } of first) assert.ok(!JSON.stringify(kept).includes(String(code)))
})
