// The payments that the watch takes, in turns of accounts, and writes that find the row changed since it was read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { openChains } from './chains.ts'
import { recordSight } from './record-sight.ts'
import { duePayments, noteCheck, tellUnwatched, watchedPayment } from './watched-payments.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'

const NETWORK = 'eip155:31337'
let state: State
ledgerOfFile(2, (opened) => {
  state = opened
})

async function begin(account: string, id: string, ageS = 0): Promise<void> {
  await state.query("select begin_payment($1, $2, 'stablecoin-test', 'topup', 5e12, null, 100)", [
    id,
    account,
  ])
  await state.query(
    `insert into stablecoin_payments (payment, network, token, receiver, sender, units, confirmations_needed, from_block,
       nonce, valid_before, looked_at, created_at)
     values ($1, '${NETWORK}', '0x1', '0x2', '0x3', 5000000, 3, 0, $1, 1,
       ledger_now() - make_interval(secs => $2), ledger_now())`,
    [id, ageS],
  )
}

const due = async (batch: number) => (await duePayments(state, NETWORK, batch)).map(({ id }) => id)
const addAccount = (id: string) =>
  addTestAccount(state, { id, env: 'test', lowWater: 1_000_000_000_000n })

test('accounts take turns', { skip: whyNoState() }, async () => {
  for (const id of ['many', 'one']) await addAccount(id)
  for (const nth of [0, 1, 2, 3, 4]) await begin('many', `many_${nth}`, 100 - nth)
  await begin('one', 'one_open', 1)
  assert.deepEqual(await due(3), ['many_0', 'one_open', 'many_1'])
  await noteCheck(state, 'many_0')
  assert.deepEqual(await due(2), ['many_1', 'one_open'])
  await end()
})

test(
  'a failed payment has its turn beside payments that are always due',
  { skip: whyNoState() },
  async () => {
    for (let nth = 0; nth < 25; nth++) {
      await addAccount(`busy_${nth}`)
      await begin(`busy_${nth}`, `busy_${nth}`)
    }
    await addAccount('failed')
    await begin('failed', 'failed', 1)
    await state.query("select note_payment('failed', null, null, 'refused')")
    const ids = await due(20)
    assert.equal(ids.indexOf('failed'), 4, ids.join())
    await end()
  },
)

test(
  'payments of a network that the setting has lost raise an alarm that names them',
  { skip: whyNoState() },
  async () => {
    await addAccount('left')
    await begin('left', 'pay_left')
    await tellUnwatched(state, [{ network: NETWORK }])
    const alarms = async () =>
      (await state.query("select key, detail from alarms where kind = 'stablecoin_unwatched'")).rows
    assert.deepEqual(await alarms(), [])
    await tellUnwatched(state, [])
    await tellUnwatched(state, [])
    const detail = { network: NETWORK, count: 1, payments: ['pay_left'] }
    assert.deepEqual(await alarms(), [{ key: NETWORK, detail }])
    await end()
  },
)

const end = () => state.query('update stablecoin_payments set ended_at = ledger_now()')

test(
  'a late look that found nothing leaves what a newer one saw',
  { skip: whyNoState() },
  async () => {
    await addTestAccount(state, { id: 'late', env: 'test', lowWater: 1_000_000_000_000n })
    await begin('late', 'pay_late')
    const [chain] = openChains([
      {
        env: 'test',
        network: NETWORK,
        token: '0x1',
        decimals: 6,
        name: 'Test Dollar',
        version: '2',
        receiver: '0x2',
        confirmations: 3,
        nodes: [],
        facilitator: undefined,
      },
    ])
    const watched = await watchedPayment(state, 'pay_late')
    assert.ok(chain !== undefined && watched !== undefined)
    const of = { chain, watched }
    const found = { transaction: '0xa', index: 0, units: 5_000_000n, block: 7n, blockHash: '0xb' }
    const rest = { found, isFinal: false, wrongNodes: [] }
    await recordSight(state, of, { kind: 'seen', confirmations: 3, ...rest })
    const absent = { kind: 'absent', isMined: false, finalAtS: 0n, wrongNodes: [] } as const
    await recordSight(state, of, absent)
    const now = await watchedPayment(state, 'pay_late')
    assert.deepEqual([now?.state, now?.blockHash], ['captured', '0xb'])
  },
)
