// A processor of cards as a model, for simulations: what happens to its payments, and an event for each change. Its calls
// are made once for each key, which it forgets after a day; answers may be lost, before or after the effect.
import { fault } from '#contract/errors.ts'
import type {
  CallOutcome,
  PaymentAdapter,
  PaymentFact,
  PaymentOrder,
  ProcessorEvent,
  RefundOrder,
} from '#payments/adapter.ts'
import type { Schedule } from '../sim/schedule.ts'

const HOUR_MS = 3_600_000
/** An event may be listed so late: the service asks for an hour again. */
const LATE_MS_MAX = HOUR_MS - 1000
const KEY_MS = 24 * HOUR_MS
export const HOLD_MS = 7 * 24 * HOUR_MS

export type SimIntent = {
  readonly id: string
  readonly payment: string
  readonly amount: bigint
  readonly isHold: boolean
  status: 'confirm' | 'authorized' | 'captured' | 'voided' | 'expired' | 'declined'
  untilMs: number
}
export type SimRefund = {
  readonly id: string
  readonly intent: SimIntent
  /** Ours; undefined where it was made on the processor's pages. */
  readonly own: string | undefined
  readonly amount: bigint
  status: 'pending' | 'succeeded' | 'failed'
}
export type SimDispute = {
  readonly id: string
  readonly intent: SimIntent
  readonly amount: bigint
  status: 'open' | 'won' | 'lost'
}

type SimEvent = { readonly atMs: number; readonly listedMs: number; readonly fact: PaymentFact }

/** Faults that the simulation must notice. */
export const PAYMENT_PLANTS = [
  'tells no events when asked',
  'takes each call for a new one',
  'tells of no refund that fails',
] as const
export type PaymentPlant = (typeof PAYMENT_PLANTS)[number]

/** The service is killed in the middle of a call. */
export class Killed extends Error {}

export class SimProcessor implements PaymentAdapter {
  readonly name: string
  readonly env = 'test'
  readonly intents: SimIntent[] = []
  readonly refunds: SimRefund[] = []
  readonly disputes: SimDispute[] = []
  /** Events that no webhook has brought yet. */
  untold: PaymentFact[] = []
  /** False once the simulation loses no more answers. */
  isFaulty = true
  readonly #schedule: Schedule
  readonly #plant: PaymentPlant | undefined
  readonly #events: SimEvent[] = []
  readonly #answers = new Map<string, { readonly atMs: number; readonly outcome: CallOutcome }>()

  constructor(schedule: Schedule, name: string, plant?: PaymentPlant) {
    this.#schedule = schedule
    this.name = name
    this.#plant = plant
  }

  customer = async () => 'cus_1'
  setUp = async () => ({ reference: 'seti_1' })
  forget = async () => undefined
  closePage = async () => undefined
  parseWebhook = async () => []

  authorize = (order: PaymentOrder) => this.#pay(order, true)
  charge = (order: PaymentOrder) => this.#pay(order, false)

  capture(_: string, reference: string): Promise<void> {
    return this.#call(() => {
      const intent = this.#intentOf(reference)
      if (intent.status === 'captured') return
      if (intent.status !== 'authorized') throw away()
      this.#step(intent, 'captured')
    })
  }

  void(_: string, reference: string): Promise<void> {
    return this.#call(() => {
      const intent = this.#intentOf(reference)
      if (intent.status !== 'authorized' && intent.status !== 'confirm') throw away()
      this.#step(intent, 'voided')
    })
  }

  refund(order: RefundOrder): Promise<CallOutcome> {
    return this.#once(order.refund, () => {
      const intent = this.#intentOf(order.reference)
      if (order.amount > this.#leftOf(intent)) return { reference: '', failure: 'charge_disputed' }
      return { reference: this.#refund(intent, order.amount, order.refund).id }
    })
  }

  async *reconcile(since: Date): AsyncGenerator<ProcessorEvent> {
    await this.#call(() => undefined)
    if (this.#plant === 'tells no events when asked') return
    const { wallMs } = this.#schedule
    for (const { atMs, listedMs, fact } of this.#events)
      if (atMs >= since.getTime() && listedMs <= wallMs)
        yield { id: fact.id, at: new Date(atMs), facts: async () => [fact] }
  }

  event(id: string): Promise<readonly PaymentFact[]> {
    return this.#call(() => this.#events.map(({ fact }) => fact).filter((fact) => fact.id === id))
  }

  look(reference: string): Promise<readonly PaymentFact[]> {
    return this.#call(() => {
      if (this.#plant === 'tells no events when asked') return []
      return [this.#factOf(this.#intentOf(reference), 'now')]
    })
  }

  /** The payer confirms at the bank, or is refused there. */
  confirm(intent: SimIntent, isRefused: boolean): void {
    if (intent.status !== 'confirm') return
    this.#step(intent, isRefused ? 'declined' : intent.isHold ? 'authorized' : 'captured')
  }

  /** Authorisations end by themselves. */
  expire(): void {
    for (const intent of this.intents)
      if (intent.status === 'authorized' && intent.untilMs <= this.#schedule.wallMs)
        this.#step(intent, 'expired')
  }

  /** A refund on the processor's own pages. */
  refundElsewhere(intent: SimIntent, part: number): void {
    const amount = partOf(this.#leftOf(intent), part)
    if (intent.status === 'captured' && amount > 0n) this.#refund(intent, amount, undefined)
  }

  dispute(intent: SimIntent, part: number): void {
    const amount = partOf(this.#leftOf(intent), part)
    if (intent.status !== 'captured' || amount === 0n) return
    const dispute = { id: this.#id('dp'), intent, amount, status: 'open' } as const
    this.disputes.push(dispute)
    this.#tellDispute(dispute)
  }

  decide(dispute: SimDispute, isWon: boolean): void {
    if (dispute.status !== 'open') return
    dispute.status = isWon ? 'won' : 'lost'
    this.#tellDispute(dispute)
  }

  /** A refund is through, or a bank refuses what was done. */
  settle(refund: SimRefund, status: 'succeeded' | 'failed'): void {
    if (refund.status === 'failed' || refund.status === status) return
    refund.status = status
    this.#tellRefund(refund)
  }

  #tellRefund(refund: SimRefund): void {
    const types = {
      pending: 'refund_pending',
      succeeded: 'refunded',
      failed: 'refund_failed',
    } as const
    this.#tell({
      id: this.#id('evt'),
      type: types[refund.status],
      reference: refund.intent.id,
      ...(refund.own !== undefined && { refund: refund.own }),
      refund_reference: refund.id,
      pusd: refund.amount.toString(),
      unit: 'tUSD',
    })
  }

  #pay(order: PaymentOrder, isHold: boolean): Promise<CallOutcome> {
    return this.#once(order.payment, () => {
      const schedule = this.#schedule
      const intent: SimIntent = {
        id: this.#id('pi'),
        payment: order.payment,
        amount: order.amount,
        isHold,
        status: 'confirm',
        untilMs: schedule.wallMs + HOLD_MS,
      }
      this.intents.push(intent)
      const luck = schedule.chance()
      if (luck < 0.15) {
        this.#step(intent, 'declined')
        return { reference: intent.id, failure: 'card_declined' }
      }
      if (luck < 0.35) {
        this.#step(intent, 'confirm')
        return { reference: intent.id, action: { url: null, client_secret: 'x' } }
      }
      this.#step(intent, isHold ? 'authorized' : 'captured')
      return { reference: intent.id }
    })
  }

  #once(key: string, effect: () => CallOutcome): Promise<CallOutcome> {
    return this.#call(() => {
      const { wallMs } = this.#schedule
      const known = this.#answers.get(key)
      const isKnown = known !== undefined && wallMs - known.atMs < KEY_MS
      if (isKnown && this.#plant !== 'takes each call for a new one') return known.outcome
      const outcome = effect()
      this.#answers.set(key, { atMs: wallMs, outcome })
      return outcome
    })
  }

  async #call<T>(effect: () => T): Promise<T> {
    const luck = this.isFaulty ? this.#schedule.chance() : 1
    if (luck < 0.1) throw away()
    const answer = effect()
    if (luck < 0.2) throw away()
    if (luck < 0.25) throw new Killed('killed')
    return answer
  }

  #step(intent: SimIntent, status: SimIntent['status']): void {
    intent.status = status
    this.#tell(this.#factOf(intent, this.#id('evt')))
  }

  #factOf(intent: SimIntent, id: string): PaymentFact {
    const { status, payment, amount } = intent
    const money = { pusd: amount.toString(), unit: 'tUSD' }
    const types = { confirm: 'requires_action', declined: 'failed' } as const
    const type = status === 'confirm' || status === 'declined' ? types[status] : status
    return {
      id: id === 'now' ? `${intent.id}:${status}` : id,
      type,
      payment,
      reference: intent.id,
      ...(status === 'captured' && money),
      ...(status === 'authorized' && { ...money, until: new Date(intent.untilMs).toISOString() }),
    }
  }

  #tellDispute({ id, intent, amount, status }: SimDispute): void {
    this.#tell({
      id: this.#id('evt'),
      type: status === 'open' ? 'disputed' : status === 'won' ? 'dispute_won' : 'dispute_lost',
      reference: intent.id,
      dispute: id,
      pusd: amount.toString(),
      unit: 'tUSD',
    })
  }

  #tell(fact: PaymentFact): void {
    if (this.#plant === 'tells of no refund that fails' && fact.type === 'refund_failed') return
    const atMs = this.#schedule.wallMs
    this.#events.push({ atMs, listedMs: atMs + this.#schedule.between(0, LATE_MS_MAX), fact })
    this.untold.push(fact)
  }

  #refund(intent: SimIntent, amount: bigint, own: string | undefined): SimRefund {
    const refund: SimRefund = { id: this.#id('re'), intent, own, amount, status: 'pending' }
    this.refunds.push(refund)
    this.#tellRefund(refund)
    if (this.#schedule.chance() < 0.6) this.settle(refund, 'succeeded')
    return refund
  }

  /** The part of a payment that the processor still has. */
  #leftOf(intent: SimIntent): bigint {
    const gone = [
      ...this.refunds.filter((one) => one.intent === intent && one.status !== 'failed'),
      ...this.disputes.filter((one) => one.intent === intent && one.status !== 'won'),
    ]
    return gone.reduce((left, { amount }) => left - amount, intent.amount)
  }

  #intentOf(reference: string): SimIntent {
    const found = this.intents.find(({ id }) => id === reference)
    if (found === undefined) throw away()
    return found
  }

  #id(prefix: string): string {
    return `${prefix}_${this.name}_${this.#events.length}_${this.intents.length}_${this.refunds.length}_${this.disputes.length}`
  }
}

const partOf = (amount: bigint, part: number): bigint => {
  const cent = 10_000_000_000n
  return ((amount * BigInt(part)) / 4n / cent) * cent
}

const away = () => fault('payment_processor_away', 'Could not ask the payment processor')
