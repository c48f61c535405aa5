// Resources are added beside the ticks of their account, and their number holds whatever comes at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createLedger } from '#ledger/ledger.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, testCharge } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { setEnergyBudget } from './set-energy-budget.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const MOST = 5
const BUDGET = { account: ACCOUNT, budget: '5 kJ/day', operations: ['cell.standing'] } as const

let state: State
ledgerOfFile(8, async (made) => {
  state = made
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
})

const add = async (on: Pick<State, 'query'>, name: string): Promise<string> => {
  const { rows } = await on.query<{ id: string }>(
    "select add_resource('database', $1, $2, 'local', $3) as id",
    [ACCOUNT, name, MOST],
  )
  return rows[0]?.id ?? ''
}

test('a resource with a budget is added while its account is charged', { skip }, async () => {
  const ledger = createLedger(state)
  const { session } = await ledger.openSession('gw-1')
  const at = new Date().toISOString()
  const own = { session, seq: 1n, account: ACCOUNT, ownNj: 1n, upstreamNj: 0n, money: 0n, at }
  let ticking: Promise<unknown> | undefined
  await state.transaction(async (transaction) => {
    const id = await add(transaction, 'one')
    const input = { session, number: 1n, epoch: 0n, meter: 'm1', debits: [], wants: [] }
    ticking = ledger.tick({ ...input, records: [testCharge(own)] })
    ticking.catch(() => undefined)
    // It has come to the account's row by now.
    await pause(100)
    await setEnergyBudget(transaction, { id, ...BUDGET })
  })
  await ticking
})

test(
  'an account has as many resources as it may, however many are added at once',
  { skip },
  async () => {
    const all = Array.from({ length: 2 * MOST }, (_, nth) => add(state, `all-${nth}`))
    const ends = await Promise.allSettled(all)
    const refused = ends.filter((end) => end.status === 'rejected')
    assert.deepEqual(
      new Set(refused.map(({ reason }) => (reason as { code: string }).code)),
      new Set(['EG020']),
    )
    assert.equal(ends.length - refused.length, MOST - 1)
  },
)
