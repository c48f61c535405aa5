// The one interface to the processors that move real money. An adapter tells facts; the ledger moves by facts alone, and facts come
// out of verified webhooks (`parseWebhook`) and of asking (`reconcile`, `look`), never out of the answer to a call.
import type { Pusd } from '#base/units.ts'

export const FACTS = [
  'requires_action',
  'authorized',
  'captured',
  'voided',
  'expired',
  'failed',
  'refund_pending',
  'refunded',
  'refund_failed',
  'disputed',
  'dispute_won',
  'dispute_lost',
  'method_ready',
  'method_failed',
  'method_removed',
] as const

/** A fact as `payment_fact()` of payments.sql takes it. */
export type PaymentFact = {
  /** The id that the processor gave: the same fact has the same id in each webhook. */
  readonly id: string
  readonly type: (typeof FACTS)[number]
  /** Our payment, and the processor's name of it. */
  readonly payment?: string | undefined
  readonly reference?: string | undefined
  readonly pusd?: string
  /** The currency of the money: any other currency is refused. */
  readonly unit?: string
  /** The time until which an authorisation can be captured. */
  readonly until?: string
  readonly reason?: string | undefined
  readonly refund?: string | undefined
  readonly refund_reference?: string
  /** The processor's name of a dispute. */
  readonly dispute?: string
  /** Our id of a way to pay; the fields below are the processor's names of it. */
  readonly card?: string | undefined
  readonly setup?: string
  readonly method?: string
  readonly label?: string
}

/** The next step of the payer, such as a confirmation at the bank. */
export type PaymentAction = { readonly url: string | null; readonly client_secret: string | null }

/** An event by the processor's clock, which alone orders its events. Its facts have its id; they may have to be asked for. */
export type ProcessorEvent = {
  readonly id: string
  readonly at: Date
  readonly facts: () => Promise<readonly PaymentFact[]>
}

/** The answer to a call: it moves no money. */
export type CallOutcome = {
  readonly reference: string
  /** The code of a refusal by the processor or the bank. */
  readonly failure?: string
  readonly action?: PaymentAction
  /** The processor's name of the page on which a payer gives a card. */
  readonly page?: string
}

export type PaymentOrder = {
  /** Our id, which is the idempotency key: the same order is made once. */
  readonly payment: string
  readonly account: string
  readonly amount: Pusd
  readonly customer: string
  /** The processor's name of the way to pay. */
  readonly method: string
  /** True where the payer is not there to confirm. */
  readonly isOffSession: boolean
}

export type RefundOrder = {
  readonly refund: string
  readonly reference: string
  readonly amount: Pusd
}

export type MethodOrder = {
  readonly method: string
  readonly account: string
  readonly customer: string
  /** Where the payer has given it to the processor before. */
  readonly reference?: string | undefined
}

export interface PaymentAdapter {
  readonly name: string
  /** The accounts that may use it: live and test money never meet. */
  readonly env: 'live' | 'test'
  customer(account: string): Promise<string>
  /** Begins a way to pay. */
  setUp(order: MethodOrder): Promise<CallOutcome>
  /** Takes a way to pay off there; does nothing to one that is off. */
  forget(method: string): Promise<void>
  /** Closes a page on which a payer would give a card; does nothing to one that has ended. */
  closePage(page: string): Promise<void>
  authorize(order: PaymentOrder): Promise<CallOutcome>
  capture(payment: string, reference: string): Promise<void>
  /** Does nothing to a payment that has ended there: `look` tells how. */
  void(payment: string, reference: string): Promise<void>
  charge(order: PaymentOrder): Promise<CallOutcome>
  refund(order: RefundOrder): Promise<CallOutcome>
  /** Throws webhook_forged, webhook_late. */
  parseWebhook(bytes: Uint8Array, headers: WebhookHeaders): Promise<readonly PaymentFact[]>
  /** Its events since a time, the oldest first. */
  reconcile(since: Date, signal: AbortSignal): AsyncIterable<ProcessorEvent>
  /** The facts of one of its events. */
  event(id: string): Promise<readonly PaymentFact[]>
  /** The present state of a payment. */
  look(reference: string): Promise<readonly PaymentFact[]>
}

export type WebhookHeaders = Readonly<Record<string, string | undefined>>
