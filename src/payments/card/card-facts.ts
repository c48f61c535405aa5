// The facts in the messages of the card processor: its events, and the present state of a payment.
import type { Stripe } from 'stripe'
import type { PaymentFact } from '#payments/adapter.ts'

/** Pico-dollars of a cent. */
export const PUSD_PER_CENT = 10_000_000_000n

/** The metadata of a set-up on the processor's page, where a payer whose card is refused tries another one. */
export const ON_PAGE = 'on_page'

type Env = 'live' | 'test'

/** The longest that an authorisation of a payer who was there lives, less a margin; a card may say less. */
const HOLD_S = 6 * 86_400

/** The events that facts come out of. */
export const EVENT_TYPES = [
  'payment_intent.amount_capturable_updated',
  'payment_intent.succeeded',
  'payment_intent.canceled',
  'payment_intent.payment_failed',
  'payment_intent.requires_action',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.refund.updated',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.closed',
  'setup_intent.succeeded',
  'setup_intent.setup_failed',
  'checkout.session.expired',
  'payment_method.detached',
] as const

/** The facts of an event; none where nothing follows from it. */
export function factsOfEvent(event: Stripe.Event, env: Env): PaymentFact[] {
  const { id } = event
  switch (event.type) {
    case 'payment_intent.amount_capturable_updated':
    case 'payment_intent.succeeded':
    case 'payment_intent.canceled':
    case 'payment_intent.payment_failed':
    case 'payment_intent.requires_action':
      return factsOfIntent(event.data.object, env, id)
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated':
      return factsOfRefund(event.data.object, env, id)
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.closed':
      return factsOfDispute(event.data.object, env, id)
    case 'setup_intent.succeeded':
    case 'setup_intent.setup_failed':
      return factsOfSetup(event.data.object, id)
    case 'checkout.session.expired':
      return [
        {
          id,
          type: 'method_failed',
          card: event.data.object.metadata?.['method'],
          reason: 'expired',
        },
      ]
    case 'payment_method.detached':
      return [{ id, type: 'method_removed', method: event.data.object.id }]
    default:
      return []
  }
}

/** The fact that the state of an intent is. */
export function factsOfIntent(
  intent: Stripe.PaymentIntent,
  env: Env,
  id = `${intent.id}:${intent.status}:${intent.amount_received}`,
): PaymentFact[] {
  const own = { id, payment: intent.metadata['payment'], reference: intent.id }
  const unit = unitOf(intent.currency, env)
  switch (intent.status) {
    case 'requires_action':
      return [{ ...own, type: 'requires_action' }]
    case 'requires_capture':
      return [
        {
          ...own,
          type: 'authorized',
          pusd: pusdOf(intent.amount_capturable),
          unit,
          until: captureBefore(intent),
        },
      ]
    case 'succeeded':
      return [{ ...own, type: 'captured', pusd: pusdOf(intent.amount_received), unit }]
    case 'canceled': {
      const isExpired = intent.cancellation_reason === 'automatic'
      return [{ ...own, type: isExpired ? 'expired' : 'voided' }]
    }
    case 'requires_payment_method':
      return [{ ...own, type: 'failed', reason: failureOf(intent.last_payment_error) }]
    default:
      return []
  }
}

const REFUND_FACTS: Readonly<Record<string, PaymentFact['type']>> = {
  pending: 'refund_pending',
  requires_action: 'refund_pending',
  succeeded: 'refunded',
  failed: 'refund_failed',
  canceled: 'refund_failed',
}

export function factsOfRefund(
  refund: Stripe.Refund,
  env: Env,
  id = `${refund.id}:${refund.status}`,
): PaymentFact[] {
  const type = REFUND_FACTS[refund.status ?? '']
  if (type === undefined) return []
  return [
    {
      id,
      type,
      reference: idOf(refund.payment_intent),
      refund: refund.metadata?.['refund'],
      refund_reference: refund.id,
      pusd: pusdOf(refund.amount),
      unit: unitOf(refund.currency, env),
      reason: refund.failure_reason,
    },
  ]
}

export function factsOfSetup(
  setup: Stripe.SetupIntent,
  id = `${setup.id}:${setup.status}`,
): PaymentFact[] {
  const own = { id, card: setup.metadata?.['method'], setup: setup.id }
  if (setup.status === 'succeeded')
    return [{ ...own, type: 'method_ready', method: idOf(setup.payment_method) ?? '' }]
  if (setup.last_setup_error == null || setup.metadata?.[ON_PAGE] !== undefined) return []
  return [{ ...own, type: 'method_failed', reason: failureOf(setup.last_setup_error) }]
}

/** The most telling code of a refusal. */
export const failureOf = (
  error: { readonly decline_code?: string; readonly code?: string } | null | undefined,
): string => error?.decline_code ?? error?.code ?? 'declined'

/** An inquiry of the bank, whose statuses begin with "warning", takes no money. */
function factsOfDispute(dispute: Stripe.Dispute, env: Env, id: string): PaymentFact[] {
  const { status } = dispute
  if (status.startsWith('warning')) return []
  return [
    {
      id,
      type: status === 'won' ? 'dispute_won' : status === 'lost' ? 'dispute_lost' : 'disputed',
      reference: idOf(dispute.payment_intent),
      dispute: dispute.id,
      pusd: pusdOf(dispute.amount),
      unit: unitOf(dispute.currency, env),
    },
  ]
}

function captureBefore(intent: Stripe.PaymentIntent): string {
  const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null
  const seconds = charge?.payment_method_details?.card?.capture_before ?? intent.created + HOLD_S
  return new Date(seconds * 1000).toISOString()
}

const idOf = (named: string | { readonly id: string } | null | undefined): string | undefined =>
  typeof named === 'string' ? named : named?.id

const pusdOf = (cents: number): string => (BigInt(cents) * PUSD_PER_CENT).toString()

/** Money of another currency has a unit that no account has. */
const unitOf = (currency: string, env: Env): string =>
  currency === 'usd' ? (env === 'test' ? 'tUSD' : 'USD') : currency.toUpperCase()
