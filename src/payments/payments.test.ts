// Any facts of any payments in any order, repeated and at once, between spending and expiry: the books always add up.
// The operator's wallets are what the payments' own rows say, computed beside the ledger.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keepBooks } from '#ledger/tasks.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { Spender } from './spender.fixture.ts'
import { applyFacts } from './start-payment.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'

const RUNS = process.env['ERGON_LONG'] === '1' ? 400 : 25
const CENT = 10_000_000_000n
const HOUR_MS = 3_600_000
const PROCESSOR = 'card-test'

let state: State
ledgerOfFile(4, (opened) => {
  state = opened
})

/** An account with payments, spent by one session. */
class World {
  readonly account: string
  readonly payments: string[] = []
  readonly refunds: { readonly id: string; readonly payment: string }[] = []
  readonly spender: Spender
  #facts = 0
  constructor(account: string) {
    this.account = account
    this.spender = new Spender(state, account)
  }
  async open(): Promise<void> {
    await addTestAccount(state, { id: this.account, env: 'test', lowWater: 3n * CENT })
    await this.spender.open()
  }
  async begin(kind: string, cents: number): Promise<void> {
    const id = `pay_${this.account}_${this.payments.length}`
    const amount = (BigInt(cents) * CENT).toString()
    const asked = [id, this.account, PROCESSOR, kind, amount]
    const { rows } = await state.query<{ id: string | null }>(
      'select begin_payment($1, $2, $3, $4, $5, null, 3) as id',
      asked,
    )
    if (rows[0]?.id != null) this.payments.push(id)
  }
  /** A fact of a payment, with the amount that is right. */
  fact(nth: number, type: string, repeats: boolean): object | undefined {
    const payment = this.payments[nth % Math.max(1, this.payments.length)]
    const refund = this.refunds[nth % Math.max(1, this.refunds.length)]
    if (payment === undefined) return undefined
    if (!repeats) this.#facts++
    const id = `evt_${this.account}_${type}_${this.#facts}`
    const ofRefund = type === 'refunded' || type === 'refund_failed'
    if (ofRefund && refund === undefined) return undefined
    return {
      id,
      type: type.replace('elsewhere_', ''),
      payment: ofRefund ? refund?.payment : payment,
      ...(ofRefund ? { refund: refund?.id } : {}),
      // Two of a payment: a fact of the same one comes again under another id.
      ...(type.startsWith('elsewhere_') ? { refund_reference: `re_${payment}_${nth % 2}` } : {}),
      ...(type.startsWith('dispute') ? { dispute: `dp_${payment}_${nth % 2}` } : {}),
      ...(type === 'authorized' ? { until: new Date(Date.now() + HOUR_MS).toISOString() } : {}),
    }
  }
  /** As the processor has it, with the amount of the payment. */
  async tell(fact: object): Promise<void> {
    const told = fact as { type: string; payment: string }
    const { rows } = await state.query<{ amount: string }>(
      'select amount_pusd::text as amount from payments where id = $1',
      [told.payment],
    )
    const isWhole = ['authorized', 'captured'].includes(told.type)
    const isPart = 'dispute' in told || 'refund_reference' in told
    const amount = BigInt(rows[0]?.amount ?? 0)
    // A dispute or a refund made on the processor's pages is of a part.
    const pusd =
      isWhole || isPart
        ? { pusd: String(isWhole ? amount : amount - amount / 3n), unit: 'tUSD' }
        : {}
    await applyFacts(state, PROCESSOR, [{ ...fact, ...pusd }])
  }
  async refund(nth: number, cents: number | null): Promise<void> {
    const payment = this.payments[nth % Math.max(1, this.payments.length)]
    if (payment === undefined) return
    const id = `refund_${this.account}_${this.refunds.length}`
    const asked = cents === null ? null : (BigInt(cents) * CENT).toString()
    const { rows } = await state.query<{ amount: string | null }>(
      'select begin_refund($1, $2, $3, $4)::text as amount',
      [id, payment, this.account, asked],
    )
    if (rows[0]?.amount != null) this.refunds.push({ id, payment })
  }
}

const log = { debug() {}, info() {}, warn() {}, error() {} }

/** The operator's wallets from the rows of payments and refunds. */
const EXPECTED = `
  select (select coalesce(-sum(p.amount_pusd), 0) from payments p where p.state = 'authorized'
      and exists (select from pending_credits c where c.id = p.id and c.state = 'pending'))::text as pending,
    ((select coalesce(sum(amount_pusd), 0) from payment_refunds where state = 'pending'))::text as refunds,
    (select coalesce(-sum(amount_pusd), 0) from payments where state in ('captured', 'disputed'))
    + (select coalesce(sum(amount_pusd), 0) from payment_refunds where state = 'succeeded')
    + (select coalesce(sum(amount_pusd), 0) from payment_claims where state = 'taken') as funds`

/** Money that an account keeps of a payment although its processor took more of it. */
const KEPT = `
  select c.id, l.remaining::text from payment_claims c join payments p on p.id = c.payment
    join lots given on given.id = c.lot
    join lots l on l.reference = p.id and l.source like 'operator:funds:%' and l.remaining > 0
  where c.state = 'taken' and c.amount_pusd > given.remaining
    + (select coalesce(sum(amount), 0) from transfers where reference = c.id and kind = 'expired')`

async function check(world: World): Promise<void> {
  const faults = await state.query('select invariant, detail from ledger_faults()')
  assert.deepEqual(faults.rows, [])
  await state.query('select settle_claims(payment) from payment_claims')
  assert.deepEqual((await state.query(KEPT)).rows, [])
  const { rows } = await state.query<Record<'pending' | 'refunds' | 'funds', string>>(EXPECTED)
  const wallets = await state.query<{ id: string; posted: string }>(
    "select id, posted::text from wallets where id like 'operator:%:tUSD'",
  )
  const posted = (name: string) =>
    wallets.rows.find(({ id }) => id === `operator:${name}:tUSD`)?.posted
  assert.deepEqual(
    [posted('pending'), posted('refunds'), posted('funds')],
    [rows[0]?.pending, rows[0]?.refunds, rows[0]?.funds],
  )
  const balance = await state.query<{ posted: string; events: string }>(
    'select posted::text from wallets where id = $1',
    [`money:${world.account}`],
  )
  assert.ok(BigInt(balance.rows[0]?.posted ?? 0) >= 0n)
}

const TYPES = [
  'requires_action',
  'authorized',
  'captured',
  'voided',
  'expired',
  'failed',
  'refunded',
  'refund_failed',
  'disputed',
  'dispute_won',
  'dispute_lost',
  'elsewhere_refunded',
  'elsewhere_refund_failed',
]
const MONEY = [
  'authorized',
  'captured',
  'captured',
  'disputed',
  'dispute_won',
  'refunded',
  'refund_failed',
  'elsewhere_refunded',
  'voided',
]
const nth = fc.nat(4)
// Most facts move money, and most bursts are of one payment.
const type = fc.oneof(fc.constantFrom(...TYPES), fc.constantFrom(...MONEY))
const told = fc.record({ nth, type, repeats: fc.boolean() })
const burst = fc
  .record({ nth, types: fc.array(fc.constantFrom(...MONEY), { minLength: 2, maxLength: 4 }) })
  .map((one) => one.types.map((each) => ({ nth: one.nth, type: each, repeats: false })))
type Told = { readonly nth: number; readonly type: string; readonly repeats: boolean }
type Step = (world: World) => Promise<void>
const tellAll = async (world: World, all: readonly Told[]) => {
  const facts = all.flatMap((one) => world.fact(one.nth, one.type, one.repeats) ?? [])
  await Promise.all(facts.map((fact) => world.tell(fact)))
}
const begins = fc.record({
  kind: fc.constantFrom('hold', 'topup', 'automatic'),
  cents: fc.integer({ min: 1, max: 900 }),
})
const refunds = fc.record({ nth, cents: fc.option(fc.integer({ min: 1, max: 900 })) })
const spends = fc.record({ part: fc.nat(100), want: fc.bigInt(0n, 500n * CENT) })
const step: fc.Arbitrary<Step> = fc.oneof(
  begins.map(
    ({ kind, cents }): Step =>
      (world) =>
        world.begin(kind, cents),
  ),
  {
    weight: 4,
    arbitrary: told.map(
      (one): Step =>
        (world) =>
          tellAll(world, [one]),
    ),
  },
  {
    weight: 2,
    arbitrary: burst.map(
      (all): Step =>
        (world) =>
          tellAll(world, all),
    ),
  },
  refunds.map(
    (one): Step =>
      (world) =>
        world.refund(one.nth, one.cents),
  ),
  spends.map(
    ({ part, want }): Step =>
      (world) =>
        world.spender.spend(part, want),
  ),
  fc.constant<Step>(async () => void (await keepBooks({ state, log }))),
)

test(
  'holds, captures, voids, refunds and disputes sum to zero, in any order',
  { skip: whyNoState(), timeout: 600_000 },
  async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        const world = new World(`acct_${runs++}`)
        await world.open()
        await world.begin('topup', 500)
        await tellAll(world, [{ nth: 0, type: 'captured', repeats: false }])
        await world.begin('hold', 500)
        await world.spender.spend(0, 400n * CENT)
        for (const one of steps) await one(world)
        await check(world)
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
  },
)
