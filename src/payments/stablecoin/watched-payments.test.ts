// The payments that the watch takes, in turns of accounts, and writes that find the row changed since it was read.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { openChains } from './chains.ts'
import { recordSight } from './record-sight.ts'
import { duePayments, watchedPayment } from './watched-payments.ts'

const NETWORK = 'eip155:31337'
let server: TestUrl
let state: State
before(async () => {
  if (whyNoState() !== false) return
  server = await openTestUrl()
  state = await openLedgerState(server.of, 2)
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
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

test(
  'accounts take turns, and failed payments come after all others',
  { skip: whyNoState() },
  async () => {
    for (const id of ['many', 'one'])
      await addTestAccount(state, { id, env: 'test', lowWater: 1_000_000_000_000n })
    for (const nth of [0, 1, 2, 3, 4]) await begin('many', `many_${nth}`, 100 - nth)
    await begin('one', 'one_failed', 1000)
    await state.query("select note_payment('one_failed', null, null, 'refused')")
    await begin('one', 'one_open', 1)
    const due = async (batch: number) =>
      (await duePayments(state, [NETWORK], batch)).map(({ id }) => id).toSorted()
    assert.deepEqual(await due(2), ['many_0', 'one_open'])
    assert.deepEqual(await due(6), ['many_0', 'many_1', 'many_2', 'many_3', 'many_4', 'one_open'])
    assert.equal((await due(7)).length, 7)
  },
)

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
