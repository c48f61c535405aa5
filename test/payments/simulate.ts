// One history of an account's payments in virtual time, a function of its seed. The code and SQL of payments are real. The
// processor's answers and webhooks get lost, or come twice and in any order, and the service is killed in the middle of
// calls. At last all is quiet for some days: then the rows of the service must be what happened at the processor.
import { createLogger } from '#base/log.ts'
import { ErgonError } from '#base/errors.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { keepBooks } from '#ledger/tasks.ts'
import type { PaymentFact } from '#payments/adapter.ts'
import { endHolds } from '#payments/end-holds.ts'
import { reconcilePayments } from '#payments/reconcile.ts'
import { Spender } from '#payments/spender.fixture.ts'
import { applyFacts, startPayment, startRefund } from '#payments/start-payment.ts'
import type { State } from '#state/connect.ts'
import { Schedule } from '../sim/schedule.ts'
import { Killed, PAYMENT_PLANTS, SimProcessor, type PaymentPlant } from './sim-processor.ts'

const START_MS = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const CENT = 10_000_000_000n
const STEPS_MIN = 15
const STEPS_MAX = 50
/** Longer than a hold lives and than a payer may take to confirm. */
const QUIET_DAYS = 9
const quiet = createLogger('sim', { level: 'error', write: () => undefined })

export type PaymentHistory = { readonly faults: readonly string[]; readonly payments: number }

/** `state` has a single connection, whose clock is the history's. */
export const simulatePayments = (
  state: State,
  seed: number,
  plant?: PaymentPlant,
): Promise<PaymentHistory> => new History(state, seed, plant).run()

class History {
  readonly #state: State
  readonly #schedule: Schedule
  readonly #processor: SimProcessor
  readonly #account: string
  readonly #spender: Spender
  #ids = 0
  readonly #signal = new AbortController().signal

  constructor(state: State, seed: number, plant: PaymentPlant | undefined) {
    this.#state = state
    this.#schedule = new Schedule(seed, START_MS)
    const name = plant === undefined ? `sim${seed}` : `sim${seed}p${PAYMENT_PLANTS.indexOf(plant)}`
    this.#processor = new SimProcessor(this.#schedule, name, plant)
    this.#account = `acct_${name}`
    this.#spender = new Spender(state, this.#account)
  }

  async run(): Promise<PaymentHistory> {
    await this.#open()
    const steps = this.#schedule.between(STEPS_MIN, STEPS_MAX)
    for (let nth = 0; nth < steps; nth++) {
      await this.#pass(this.#between())
      await this.#survive(() => this.#step())
    }
    await this.#calm()
    return { faults: await this.#faults(), payments: this.#processor.intents.length }
  }

  async #open(): Promise<void> {
    await this.#pass(0)
    await addTestAccount(this.#state, { id: this.#account, env: 'test', lowWater: 0n })
    await this.#state.query(
      "insert into payment_accounts (account, customer) values ($1, 'cus_1')",
      [this.#account],
    )
    await this.#state.query(
      `insert into payment_methods (id, account, processor, reference, state, created_at)
       values ($1, $2, $3, 'pm_1', 'active', ledger_now())`,
      [this.#methodId, this.#account, this.#processor.name],
    )
    await this.#spender.open()
  }

  get #methodId(): string {
    return `pm_${this.#account}`
  }

  /** Mostly seconds or minutes, at times hours, and days now and then: beyond the memory of the processor's keys. */
  #between(): number {
    const luck = this.#schedule.chance()
    if (luck < 0.5) return this.#schedule.between(0, 20_000)
    if (luck < 0.8) return this.#schedule.between(MINUTE_MS, 10 * MINUTE_MS)
    if (luck < 0.93) return this.#schedule.between(MINUTE_MS, 3 * HOUR_MS)
    return this.#schedule.between(12 * HOUR_MS, 60 * HOUR_MS)
  }

  async #pass(ms: number): Promise<void> {
    this.#schedule.nowMs += ms
    await this.#state.query("select set_config('ergon.now', $1, false)", [
      new Date(this.#schedule.wallMs).toISOString(),
    ])
    this.#processor.expire()
  }

  /** A call without an answer, and a kill, leave the rest of the work undone. */
  async #survive(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const isAway = error instanceof ErgonError && error.code === 'payment_processor_away'
      if (!isAway && !(error instanceof Killed)) throw error
    }
  }

  #step(): Promise<unknown> {
    const schedule = this.#schedule
    const processor = this.#processor
    const intent = processor.intents[schedule.between(0, Math.max(0, processor.intents.length - 1))]
    const luck = schedule.chance()
    if (luck < 0.2) return this.#begin()
    if (luck < 0.3) return this.#refund()
    if (luck < 0.4) return this.#spender.spend(schedule.between(0, 100), 500n * CENT)
    if (luck < 0.6) return this.#deliver()
    if (luck < 0.78) return this.#tasks()
    if (intent !== undefined) {
      if (luck < 0.85) processor.confirm(intent, schedule.chance() < 0.3)
      else if (luck < 0.89) processor.dispute(intent, schedule.between(1, 4))
      else if (luck < 0.92) processor.refundElsewhere(intent, schedule.between(1, 4))
      else this.#decide()
    }
    return Promise.resolve()
  }

  #decide(): void {
    for (const dispute of this.#processor.disputes)
      this.#processor.decide(dispute, this.#schedule.chance() < 0.5)
    for (const refund of this.#processor.refunds)
      this.#processor.settle(refund, this.#schedule.chance() < 0.7 ? 'succeeded' : 'failed')
  }

  async #begin(): Promise<void> {
    const id = `pay_${this.#account}_${this.#ids++}`
    const kind = this.#schedule.pick(['hold', 'topup', 'topup'])
    const amount = BigInt(kind === 'hold' ? 500 : this.#schedule.between(100, 900)) * CENT
    const { rows } = await this.#state.query<{ id: string | null }>(
      'select begin_payment($1, $2, $3, $4, $5, $6, 5) as id',
      [id, this.#account, this.#processor.name, kind, amount.toString(), this.#methodId],
    )
    if (rows[0]?.id != null) await startPayment(this.#state, this.#processor, id)
  }

  async #refund(): Promise<void> {
    const { rows } = await this.#state.query<{ id: string }>(
      "select id from payments where account = $1 and state = 'captured' order by id",
      [this.#account],
    )
    const payment = rows[this.#schedule.between(0, Math.max(0, rows.length - 1))]
    if (payment === undefined) return
    const id = `refund_${this.#account}_${this.#ids++}`
    const asked = this.#schedule.chance() < 0.5 ? null : (100n * CENT).toString()
    const begun = await this.#state.query<{ amount: string | null }>(
      'select begin_refund($1, $2, $3, $4)::text as amount',
      [id, payment.id, this.#account, asked],
    )
    if (begun.rows[0]?.amount != null) await startRefund(this.#state, this.#processor, id)
  }

  /** Some webhooks come, in any order, some twice; some never come. */
  async #deliver(): Promise<void> {
    const schedule = this.#schedule
    const kept: PaymentFact[] = []
    const told: PaymentFact[] = []
    for (const fact of this.#processor.untold) {
      const luck = schedule.chance()
      if (luck < 0.55) told.push(fact)
      else if (luck < 0.85) kept.push(fact)
      if (luck < 0.1) kept.push(fact)
    }
    this.#processor.untold = kept
    if (schedule.chance() < 0.5) told.reverse()
    await applyFacts(this.#state, this.#processor.name, told)
  }

  async #tasks(): Promise<void> {
    const deps = { state: this.#state, adapter: this.#processor, log: quiet }
    await this.#survive(() => reconcilePayments(deps, this.#signal))
    await this.#survive(() => endHolds(deps, this.#signal))
    if (this.#schedule.chance() < 0.3) await this.#keepBooks()
  }

  async #keepBooks(): Promise<void> {
    await keepBooks({ state: this.#state, log: quiet })
  }

  /** The processor answers and decides everything, and time passes. */
  async #calm(): Promise<void> {
    const processor = this.#processor
    processor.isFaulty = false
    processor.untold = []
    for (let hours = 0; hours < QUIET_DAYS * 24; hours += 12) {
      await this.#pass(12 * HOUR_MS)
      for (const dispute of processor.disputes) processor.decide(dispute, false)
      for (const refund of processor.refunds) processor.settle(refund, 'succeeded')
      await this.#tasks()
    }
    // A lease that the spender keeps cannot be given back for a claim.
    await this.#spender.spend(0, 0n)
    await this.#tasks()
    await this.#keepBooks()
  }

  async #faults(): Promise<string[]> {
    const { rows: payments } = await this.#state.query<{ id: string; state: string }>(
      'select id, state from payments where account = $1 order by id',
      [this.#account],
    )
    const { rows: refunds } = await this.#state.query<{ id: string; state: string }>(
      'select r.id, r.state from payment_refunds r join payments p on p.id = r.payment where p.account = $1',
      [this.#account],
    )
    const { rows: claims } = await this.#state.query<{ id: string; state: string }>(
      'select c.id, c.state from payment_claims c join payments p on p.id = c.payment where p.account = $1',
      [this.#account],
    )
    const books = await this.#state.query<{ invariant: string; detail: string }>(
      'select invariant, detail from ledger_faults()',
    )
    return [
      ...payments.flatMap((payment) => this.#faultOfPayment(payment)),
      ...this.#strangers(payments.map(({ id }) => id)),
      ...refunds.flatMap((refund) => this.#faultOfRefund(refund)),
      ...this.#faultsOfClaims(claims),
      ...books.rows.map(({ invariant, detail }) => `books: ${invariant} ${detail}`),
    ]
  }

  #faultOfPayment({ id, state }: { id: string; state: string }): string[] {
    const intents = this.#processor.intents.filter(({ payment }) => payment === id)
    const [intent] = intents
    if (intents.length > 1) return [`${id} was charged ${intents.length} times`]
    const isDisputed = this.#processor.disputes.some(
      (dispute) => dispute.intent === intent && dispute.status !== 'won',
    )
    const wanted: readonly string[] = {
      none: ['failed'],
      confirm: [],
      authorized: [],
      captured: [isDisputed ? 'disputed' : 'captured'],
      voided: ['voided', 'failed'],
      expired: ['expired'],
      declined: ['failed'],
    }[intent?.status ?? 'none']
    return wanted.includes(state) ? [] : [`${id} is ${state}, at the processor ${intent?.status}`]
  }

  #strangers(known: readonly string[]): string[] {
    return this.#processor.intents
      .filter(({ payment }) => !known.includes(payment))
      .map(({ id }) => `${id} is of no payment`)
  }

  #faultOfRefund({ id, state }: { id: string; state: string }): string[] {
    const made = this.#processor.refunds.filter(({ own }) => own === id)
    if (made.length > 1) return [`${id} was made ${made.length} times`]
    const wanted = made[0]?.status === 'succeeded' ? 'succeeded' : 'failed'
    return state === wanted ? [] : [`${id} is ${state}, at the processor ${made[0]?.status}`]
  }

  #faultsOfClaims(rows: readonly { id: string; state: string }[]): string[] {
    const states = new Map(rows.map(({ id, state }) => [id, state]))
    const taken = [
      ...this.#processor.disputes.map(({ id, status }) => ({ id, isTaken: status !== 'won' })),
      ...this.#processor.refunds
        .filter(({ own }) => own === undefined)
        .map(({ id, status }) => ({ id, isTaken: status === 'succeeded' })),
    ]
    return taken
      .filter(({ id, isTaken }) => (states.get(id) === 'taken') !== isTaken)
      .map(({ id, isTaken }) => `${id} is ${states.get(id)}, and taken: ${isTaken}`)
  }
}
