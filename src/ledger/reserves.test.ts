// Reserves on the real ledger: new work cannot have them, what they are for is paid out of them to the last pico-dollar.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from './ledger-of-file.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, State } from '#state/connect.ts'
import { createLedger } from './ledger.ts'
import { fitReserves } from './reserves.ts'
import { addTestAccount, testCharge } from './test-state.fixture.ts'
import type { LeaseGrant, ReserveKind, TickDebit, TickRecord } from './tick.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const WALLET = `money:${ACCOUNT}`
const FUNDS = 10_000_000n
/** At 69,444 pUSD a joule: 4,166,640 pUSD. */
const KEPT_NJ = 60_000_000_000n
const KEPT = 4_166_640n

let state: State
ledgerOfFile(4, async (made) => {
  state = made
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  await state.query("select grant_funds($1, $2, 'funds', 50, 'top_up')", [ACCOUNT, String(FUNDS)])
})

const fit = (energyNj: bigint) =>
  fitReserves(state, {
    kind: 'retention',
    source: 'bucket',
    energies: new Map([[ACCOUNT, energyNj]]),
  })
const figures = async () => {
  const { rows } = await state.query<{
    posted: string
    reserved: string
    kept: string
    used_up: boolean
  }>(
    `select posted::text, reserved::text, kept::text, depleted_at is not null as used_up
     from wallets w join accounts a on w.id = 'money:' || a.id where w.id = $1`,
    [WALLET],
  )
  return rows[0]
}
const faults = async () => (await state.query('select * from ledger_faults()')).rows

/** A session that asks for so much of the wallet, and is charged for what it says. */
async function openSpender(process: string, draws?: ReserveKind) {
  const ledger = createLedger(state)
  const { session } = await ledger.openSession(process, { draws })
  let number = 0n
  let seq = 0n
  return async (amount: bigint, spent = 0n): Promise<LeaseGrant | undefined> => {
    const records: TickRecord[] = []
    const debits: TickDebit[] = []
    if (spent > 0n) {
      seq++
      const at = new Date().toISOString()
      records.push(
        testCharge({ session, seq, account: ACCOUNT, ownNj: 1n, upstreamNj: 0n, money: spent, at }),
      )
      debits.push({ seq, wallet: WALLET, amount: spent })
    }
    const wants = [{ wallet: WALLET, amount }]
    const input = { session, number: ++number, epoch: 0n, meter: 'm1', records, debits, wants }
    return (await ledger.tick(input)).grants[0]
  }
}

test(
  'a balance that is used up pays what is stored out of its reserve, and the operator loses nothing',
  { skip },
  async () => {
    const work = await openSpender('gw-1')
    const store = await openSpender('tasks', 'retention')
    await fit(KEPT_NJ)
    assert.deepEqual(await figures(), {
      posted: String(FUNDS),
      reserved: String(KEPT),
      kept: String(KEPT),
      used_up: false,
    })
    // New work gets the rest and no more, and nobody else has it.
    const granted = await work(FUNDS)
    assert.deepEqual(
      [granted?.amount, granted?.dry, granted?.elsewhere],
      [FUNDS - KEPT, true, false],
    )
    await work(0n, FUNDS - KEPT)
    assert.equal((await work(1n))?.amount, 0n)
    assert.equal((await figures())?.used_up, true)
    // Stored bytes are paid.
    assert.equal((await store(1_000_000n))?.amount, 1_000_000n)
    assert.deepEqual(await faults(), [])
    // A lease that goes back fills the reserve: new work cannot have it.
    await store(400_000n)
    assert.equal((await work(1n))?.amount, 0n)
    await store(KEPT, 400_000n)
    await store(0n, KEPT - 400_000n)
    assert.equal((await store(1n))?.amount, 0n)
    const { rows } = await state.query(
      "select sum(posted)::text as loss from wallets where id like 'operator:loss:%'",
    )
    assert.deepEqual([(await figures())?.posted, rows[0]?.['loss']], ['0', '0'])
    assert.deepEqual(await faults(), [])
    const { rows: told } = await state.query("select from events where type = 'balance.depleted'")
    assert.equal(told.length, 1)
  },
)

test('a credit ends it, and fills the reserve first', { skip }, async () => {
  await state.query("select grant_funds($1, $2, 'funds', 50, 'top_up')", [ACCOUNT, String(FUNDS)])
  assert.equal((await figures())?.used_up, false)
  assert.deepEqual(
    [(await figures())?.kept, (await figures())?.reserved],
    [String(KEPT), String(KEPT)],
  )
  await fit(0n)
  assert.equal((await figures())?.reserved, '0')
  assert.deepEqual(await faults(), [])
})

test('stored bytes that go end it too, and it is told once more', { skip }, async () => {
  const told = async () =>
    (await state.query("select from events where type = 'balance.depleted'")).rows.length
  const before = await told()
  await fit(1_000_000_000_000n)
  assert.deepEqual([(await figures())?.used_up, await told()], [true, before + 1])
  await fit(0n)
  assert.equal((await figures())?.used_up, false)
  await fit(1_000_000_000_000n)
  assert.deepEqual([(await figures())?.used_up, await told()], [true, before + 2])
  // A reserve that is short and cannot grow is left alone.
  const { rows } = await state.query(
    "select want_reserves('retention', 'bucket', $1, $2) as wallets",
    [[ACCOUNT], ['1000000000000']],
  )
  assert.deepEqual(rows, [{ wallets: [] }])
  await fit(0n)
  assert.deepEqual(await faults(), [])
})

test('many accounts are fitted a hundred at a time', { skip }, async () => {
  const ids = Array.from({ length: 150 }, (_, nth) => `acct_many_${nth}`)
  for (const id of ids) {
    await addTestAccount(state, { id, env: 'test', lowWater: 0n })
    await state.query("select grant_funds($1, 1000000, 'funds', 50, 'top_up')", [id])
  }
  const asked: number[] = []
  const counted = {
    query: (text: string, values: unknown[] = []) => {
      if (text.startsWith('select fit_reserves')) asked.push((values[1] as string[]).length)
      return state.query(text, values)
    },
  } as Queryable
  const wanted = {
    kind: 'retention',
    source: 'bucket',
    energies: new Map(ids.map((id) => [id, 1_000_000_000n])),
  } as const
  await fitReserves(counted, wanted)
  assert.deepEqual(asked, [100, 50])
  await fitReserves(counted, wanted)
  assert.deepEqual(asked, [100, 50])
  assert.deepEqual(await faults(), [])
})
