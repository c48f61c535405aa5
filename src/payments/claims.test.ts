// Money that a processor takes of a payment unasked, and gives again: each once, in any order of the facts. The account
// ends with the sum of its payments less the sum that went back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { applyFacts } from './start-payment.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'

const DOLLAR = 1_000_000_000_000n
const PROCESSOR = 'card-test'
let state: State
ledgerOfFile(2, (opened) => {
  state = opened
})

const refundElsewhere = { type: 'refunded', refund_reference: 're_1', pusd: 5 }
const dispute = (pusd: number, id = 'dp_1') => ({ type: 'disputed', dispute: id, pusd })
const won = (id = 'dp_1') => ({ type: 'dispute_won', dispute: id })
const refundOfOurs = (type: 'refunded' | 'refund_failed') => ({ type, refund: 'ours' })
const refundDollars = (dollars: number) => ({ type: 'ask', pusd: dollars })

type Case = {
  readonly name: string
  readonly told: readonly { readonly type: string; readonly pusd?: number }[]
  /** In dollars, of a payment of 20. */
  readonly balance: bigint
}
const captured = { type: 'captured', pusd: 20 }
const CASES: readonly Case[] = [
  {
    name: 'a refund elsewhere that is told three times is taken once',
    told: [captured, refundElsewhere, refundElsewhere, refundElsewhere],
    balance: 15n,
  },
  {
    name: 'a refund elsewhere that the bank refuses comes back',
    told: [captured, refundElsewhere, { type: 'refund_failed', refund_reference: 're_1' } as never],
    balance: 20n,
  },
  {
    name: 'a refund elsewhere of which the failure is told first is not taken',
    told: [captured, { type: 'refund_failed', refund_reference: 're_1' } as never, refundElsewhere],
    balance: 20n,
  },
  {
    name: 'a refund elsewhere told before the capture is taken with it',
    told: [refundElsewhere, captured],
    balance: 15n,
  },
  {
    name: 'a refund elsewhere of a hold is taken with its capture',
    told: [{ type: 'authorized', pusd: 20 }, refundElsewhere, captured],
    balance: 15n,
  },
  {
    name: 'a refund of ours that was done and then refused comes back',
    told: [captured, refundDollars(8), refundOfOurs('refunded'), refundOfOurs('refund_failed')],
    balance: 20n,
  },
  {
    name: 'a dispute told before the capture is taken with it',
    told: [dispute(20), captured],
    balance: 0n,
  },
  {
    name: 'a dispute won before the capture takes nothing',
    told: [dispute(20), won(), captured],
    balance: 20n,
  },
  { name: 'a dispute won first takes nothing', told: [captured, won(), dispute(20)], balance: 20n },
  {
    name: 'a second dispute takes too',
    told: [captured, dispute(12), dispute(6, 'dp_2')],
    balance: 2n,
  },
  {
    name: 'a dispute after one that was won takes too',
    told: [captured, dispute(20), won(), dispute(20, 'dp_2')],
    balance: 0n,
  },
  {
    name: 'a refund after a dispute was won is possible',
    told: [captured, dispute(20), won(), refundDollars(20)],
    balance: 0n,
  },
  {
    name: 'the money of a refused refund goes to the dispute',
    told: [captured, refundDollars(20), dispute(20), refundOfOurs('refund_failed')],
    balance: 0n,
  },
  {
    name: 'a refund elsewhere within a dispute that is won is taken of its money',
    told: [captured, dispute(20), refundElsewhere, won()],
    balance: 15n,
  },
]

for (const [nth, { name, told, balance }] of CASES.entries())
  test(name, { skip: whyNoState() }, async () => {
    const account = `acct_${nth}`
    const payment = `pay_${nth}`
    await addTestAccount(state, { id: account, env: 'test', lowWater: DOLLAR })
    const hold = told.some(({ type }) => type === 'authorized')
    await state.query('select begin_payment($1, $2, $3, $4, $5, null, 3)', [
      payment,
      account,
      PROCESSOR,
      hold ? 'hold' : 'topup',
      String(20n * DOLLAR),
    ])
    for (const [step, fact] of told.entries()) await tell({ account, payment, step, fact })
    const { rows } = await state.query<{ posted: string }>(
      'select posted::text from wallets where id = $1',
      [`money:${account}`],
    )
    assert.equal(rows[0]?.posted, String(balance * DOLLAR))
    assert.deepEqual((await state.query('select * from ledger_faults()')).rows, [])
  })

async function tell(one: {
  readonly account: string
  readonly payment: string
  readonly step: number
  readonly fact: Case['told'][number]
}): Promise<void> {
  const { account, payment, step, fact } = one
  const pusd = fact.pusd === undefined ? null : String(BigInt(fact.pusd) * DOLLAR)
  if (fact.type === 'ask') {
    const { rows } = await state.query<{ amount: string | null }>(
      'select begin_refund($1, $2, $3, $4)::text as amount',
      [`refund_${payment}`, payment, account, pusd],
    )
    assert.equal(rows[0]?.amount, pusd)
    return
  }
  const named = Object.entries(fact).map(([name, value]) => [
    name,
    value === 'ours'
      ? `refund_${payment}`
      : name === 'dispute' || name === 'refund_reference'
        ? `${value}_${payment}`
        : value,
  ])
  await applyFacts(state, PROCESSOR, [
    {
      ...Object.fromEntries(named),
      id: `evt_${payment}_${step}`,
      payment,
      ...(pusd === null ? {} : { pusd, unit: 'tUSD' }),
      ...(fact.type === 'authorized'
        ? { until: new Date(Date.now() + 3_600_000).toISOString() }
        : {}),
    },
  ])
}

test('the money of a refused refund arms balance.low again', { skip: whyNoState() }, async () => {
  const account = 'acct_low'
  const payment = 'pay_low'
  await addTestAccount(state, { id: account, env: 'test', lowWater: 10n * DOLLAR })
  const amount = String(20n * DOLLAR)
  await state.query("select begin_payment($1, $2, $3, 'topup', $4, null, 3)", [
    payment,
    account,
    PROCESSOR,
    amount,
  ])
  const facts = [captured, refundDollars(15), refundOfOurs('refund_failed'), dispute(15), won()]
  const armed: boolean[] = []
  for (const [step, fact] of facts.entries()) {
    await tell({ account, payment, step, fact })
    const { rows } = await state.query<{ armed: boolean }>(
      'select low_water_armed as armed from accounts where id = $1',
      [account],
    )
    armed.push(rows[0]?.armed === true)
  }
  assert.deepEqual(armed, [true, false, true, false, true])
})
