// Charges use a budget up, whatever sessions hold of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { noteUsedUp } from './budgets.ts'
import { ledgerOfFile } from './ledger-of-file.fixture.ts'
import { addTestAccount } from './test-state.fixture.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const ID = 'wl_a'

let state: State
ledgerOfFile(2, async (made) => {
  state = made
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
})

const wallet = 'budget_day($1, ledger_now())'
const use = (nj: string) =>
  state.query(`select transfer(${wallet}, 'operator:budget', $2, 'budget')`, [ID, nj])
const reserve = (nj: string) =>
  state.query(`update wallets set reserved = ${nj} where id = ${wallet}`, [ID])
const told = async () => {
  const { rows } = await state.query<{ type: string; used: string }>(
    `select type, data ->> 'used_nj' as used from events
     where data ->> 'resource_id' = $1 and type like 'energy_budget.%' order by sequence`,
    [ID],
  )
  return rows.map(({ type, used }) => `${type} ${used}`)
}

test(
  'a budget is used up once less is left of what is charged than a start needs, and says so once',
  { skip },
  async () => {
    assert.equal(await noteUsedUp(state, ID), false, 'without a budget')
    await state.query('select set_budget($1, $2, 15e9)', [ID, ACCOUNT])
    await reserve('posted')
    assert.equal(await noteUsedUp(state, ID), false, 'held whole')
    await reserve('0')
    await use('14000000000')
    assert.equal(await noteUsedUp(state, ID), false, 'enough for a start')
    assert.deepEqual(await told(), [])
    await use('1')
    const events = ['energy_budget.warning 14000000001', 'energy_budget.exceeded 14000000001']
    for (const nth of ['first', 'again']) {
      assert.equal(await noteUsedUp(state, ID), true, nth)
      assert.deepEqual(await told(), events, nth)
    }
    await state.query('select set_budget($1, $2, 20e9)', [ID, ACCOUNT])
    assert.equal(await noteUsedUp(state, ID), false, 'a raise')
    await use('5000000000')
    assert.equal(await noteUsedUp(state, ID), true)
    assert.equal((await told()).at(-1), 'energy_budget.exceeded 19000000001')
    // The use stays above four fifths of the raised budget.
    await state.query('select set_budget($1, $2, 22e9)', [ID, ACCOUNT])
    await state.query(`select note_budget(${wallet.replace('$1', `'${ID}'`)})`)
    assert.equal((await told()).at(-1), 'energy_budget.warning 19000000001')
    const count = (await told()).length
    await state.query('select set_budget($1, $2, 22e9)', [ID, ACCOUNT])
    await state.query(`select note_budget(${wallet.replace('$1', `'${ID}'`)})`)
    assert.equal((await told()).length, count, 'the same budget once more')
  },
)
