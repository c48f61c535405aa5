// A clock that jumps by a day, ahead and back: no stored byte of a database is charged for the day that was skipped,
// and the energy budget of a day is given once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLedger } from '#ledger/ledger.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'

const skip = whyNoState()
const DATABASE = 'db_1'
const ACCOUNT = 'acct_1'
const BYTES = 1_000_000_000
const MINUTE_MS = 60_000
/** At 1 zJ for each byte and ms. */
const ZJ_PER_NJ = 1e12

let server: TestUrl
let state: State
before(async () => {
  if (skip !== false) return
  server = await openTestUrl()
  state = await openLedgerState(server.of, 1)
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const setClock = (time: string) => state.query("select set_config('ergon.now', $1, false)", [time])

let chargedNj = 0
/** Looks at a database as the standing charge does; the time in ms that is charged or due by then. */
async function paidMs(time: string): Promise<number> {
  await setClock(time)
  const looked = await state.query<{ energy_nj: string }>(
    'select energy_nj from standing_look($1, $2, 1, $3, $3, $3, $4, $5)',
    ['database', MINUTE_MS, [DATABASE], [ACCOUNT], [BYTES]],
  )
  chargedNj += Number(looked.rows[0]?.energy_nj)
  const { rows } = await state.query<{ due: string }>(
    'select due_zj::text as due from standing_samples where id = $1',
    [DATABASE],
  )
  return (chargedNj * ZJ_PER_NJ + Number(rows[0]?.due)) / BYTES
}

test(
  'stored bytes cost nothing for a day that the clock skips, ahead or back',
  { skip },
  async () => {
    assert.equal(await paidMs('2026-11-21T12:00:00Z'), 0)
    assert.equal(await paidMs('2026-11-21T12:01:00Z'), MINUTE_MS)
    assert.equal(await paidMs('2026-11-22T12:01:00Z'), MINUTE_MS)
    assert.equal(await paidMs('2026-11-22T12:02:00Z'), 2 * MINUTE_MS)
    assert.equal(await paidMs('2026-11-21T12:02:00Z'), 2 * MINUTE_MS)
    assert.equal(await paidMs('2026-11-22T12:03:00Z'), 3 * MINUTE_MS)
  },
)

test('the energy budget of a day is given once, however the clock jumps', { skip }, async () => {
  const ledger = createLedger(state)
  const wallet = `budget:${DATABASE}`
  const wants = [{ wallet, amount: 1000n }]
  const grantsAt = async (time: string, process: string): Promise<bigint> => {
    await setClock(time)
    const { session } = await ledger.openSession(process)
    const asked = { session, number: 1n, epoch: 0n, meter: 'm1', records: [], debits: [], wants }
    const { grants } = await ledger.tick(asked)
    return grants.reduce((sum, { amount }) => sum + amount, 0n)
  }
  await setClock('2026-11-21T12:00:00Z')
  await state.query('select set_budget($1, $2, 1000)', [DATABASE, ACCOUNT])
  assert.equal(await grantsAt('2026-11-21T12:00:00Z', 'one'), 1000n)
  assert.equal(await grantsAt('2026-11-22T12:00:00Z', 'two'), 1000n)
  assert.equal(await grantsAt('2026-11-21T12:00:01Z', 'three'), 0n)
  assert.equal(await grantsAt('2026-11-22T12:00:01Z', 'four'), 0n)
})
