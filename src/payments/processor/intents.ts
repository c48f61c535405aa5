// Payments at the test processor: requires_payment_method → requires_action → requires_capture → succeeded or canceled.
import { formPart, formText, type Form } from './form.ts'
import {
  answered,
  ProcessorRefusal,
  type ProcessorAnswer,
  type ProcessorObject,
  type ProcessorObjects,
} from './objects.ts'
import { askPayer } from './ask-payer.ts'
import { methodOf, type TestMethod } from './methods.ts'
import { refusalOf } from './test-cards.ts'

/** As the networks of cards have it for a payer who is there. */
const HOLD_S = 7 * 86_400
const CENTS_MIN = 50
const CENTS_MAX = 99_999_999

export async function createIntent(
  objects: ProcessorObjects,
  form: Form,
): Promise<ProcessorAnswer> {
  const cents = Number(formText(form, 'amount'))
  if (!Number.isInteger(cents) || cents < CENTS_MIN || cents > CENTS_MAX)
    throw new ProcessorRefusal(
      400,
      'amount_too_small',
      `Invalid amount: '${formText(form, 'amount')}'`,
    )
  const currency = formText(form, 'currency') ?? ''
  if (!/^[a-z]{3}$/.test(currency))
    throw new ProcessorRefusal(400, 'parameter_invalid', `Invalid currency: '${currency}'`)
  const id = objects.newId('pi')
  const intent: ProcessorObject = {
    id,
    object: 'payment_intent',
    amount: cents,
    amount_capturable: 0,
    amount_received: 0,
    cancellation_reason: null,
    capture_method: formText(form, 'capture_method') ?? 'automatic',
    client_secret: `${id}_secret_${objects.newId('s').slice(2)}`,
    created: objects.now,
    currency,
    customer: formText(form, 'customer') ?? null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    metadata: formPart(form, 'metadata'),
    next_action: null,
    payment_method: null,
    return_url: formText(form, 'return_url') ?? null,
    status: 'requires_payment_method',
  }
  const method = formText(form, 'payment_method')
  if (method !== undefined) {
    intent['payment_method'] = (await methodOf(objects, method)).id
    intent['status'] = 'requires_confirmation'
  }
  await objects.put(intent)
  await objects.emit('payment_intent.created', intent)
  if (formText(form, 'confirm') !== 'true') return answered(intent)
  return await confirmIntent(objects, intent, {
    isOffSession: formText(form, 'off_session') === 'true',
  })
}

export async function confirmIntent(
  objects: ProcessorObjects,
  intent: ProcessorObject,
  by: { readonly isOffSession?: boolean; readonly isAuthenticated?: boolean },
): Promise<ProcessorAnswer> {
  demand(intent, ['requires_payment_method', 'requires_confirmation', 'requires_action'])
  const method = await methodOf(objects, String(intent['payment_method'] ?? ''))
  const refusal = refusalOf(method.behaviour, 'charge')
  if (refusal !== undefined) return await decline(objects, intent, refusal)
  const mustAuthenticate =
    method.behaviour === 'authenticates' ||
    (method.behaviour === 'authenticates_at_set_up' && !method.is_set_up)
  if (mustAuthenticate && by.isAuthenticated !== true) {
    if (by.isOffSession === true)
      return await decline(objects, intent, {
        code: 'authentication_required',
        decline_code: 'authentication_required',
      })
    await askPayer(objects, intent)
    return answered(intent)
  }
  intent['next_action'] = null
  return await authorize(objects, intent, method)
}

async function authorize(
  objects: ProcessorObjects,
  intent: ProcessorObject,
  method: TestMethod,
): Promise<ProcessorAnswer> {
  const isHeld = intent['capture_method'] === 'manual'
  const charge: ProcessorObject = {
    id: objects.newId('ch'),
    object: 'charge',
    amount: intent['amount'],
    captured: !isHeld,
    currency: intent['currency'],
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: {
      type: 'card',
      card: { ...method.card, capture_before: isHeld ? objects.now + HOLD_S : null },
    },
  }
  await objects.put(charge)
  intent['latest_charge'] = charge.id
  intent['last_payment_error'] = null
  if (!isHeld) return await succeed(objects, intent, method)
  intent['status'] = 'requires_capture'
  intent['amount_capturable'] = intent['amount']
  intent['capture_before'] = objects.now + HOLD_S
  await objects.put(intent)
  await objects.emit('payment_intent.amount_capturable_updated', intent)
  return answered(intent)
}

async function succeed(
  objects: ProcessorObjects,
  intent: ProcessorObject,
  method: TestMethod,
): Promise<ProcessorAnswer> {
  intent['status'] = 'succeeded'
  intent['amount_received'] = intent['amount']
  intent['amount_capturable'] = 0
  intent['amount_refunded'] = 0
  await objects.put(intent)
  await objects.emit('payment_intent.succeeded', intent)
  if (method.behaviour === 'disputed') await dispute(objects, intent, 'needs_response')
  if (method.behaviour === 'inquired') await dispute(objects, intent, 'warning_needs_response')
  return answered(intent)
}

export async function captureIntent(
  objects: ProcessorObjects,
  intent: ProcessorObject,
): Promise<ProcessorAnswer> {
  demand(intent, ['requires_capture'])
  const method = await methodOf(objects, String(intent['payment_method']))
  return await succeed(objects, intent, method)
}

export async function cancelIntent(
  objects: ProcessorObjects,
  intent: ProcessorObject,
  reason: string | null,
): Promise<ProcessorAnswer> {
  demand(intent, [
    'requires_payment_method',
    'requires_confirmation',
    'requires_action',
    'requires_capture',
  ])
  intent['status'] = 'canceled'
  intent['cancellation_reason'] = reason
  intent['amount_capturable'] = 0
  await objects.put(intent)
  await objects.emit('payment_intent.canceled', intent)
  return answered(intent)
}

async function decline(
  objects: ProcessorObjects,
  intent: ProcessorObject,
  refusal: { readonly code: string; readonly decline_code?: string },
): Promise<ProcessorAnswer> {
  const error = { type: 'card_error', message: 'The test card was declined.', ...refusal }
  intent['status'] = 'requires_payment_method'
  intent['last_payment_error'] = error
  intent['next_action'] = null
  await objects.put(intent)
  await objects.emit('payment_intent.payment_failed', intent)
  return { status: 402, body: { error: { ...error, payment_intent: intent } } }
}

async function dispute(
  objects: ProcessorObjects,
  intent: ProcessorObject,
  status: string,
): Promise<void> {
  const made: ProcessorObject = {
    id: objects.newId('dp'),
    object: 'dispute',
    amount: intent['amount'],
    charge: intent['latest_charge'],
    created: objects.now,
    currency: intent['currency'],
    livemode: false,
    payment_intent: intent.id,
    reason: 'fraudulent',
    status,
  }
  await objects.put(made)
  await objects.emit('charge.dispute.created', made)
}

/** Ends a dispute, as the bank does after weeks. */
export async function closeDispute(
  objects: ProcessorObjects,
  made: ProcessorObject,
  outcome: string | undefined,
): Promise<ProcessorAnswer> {
  if (outcome !== 'won' && outcome !== 'lost')
    throw new ProcessorRefusal(400, 'parameter_invalid', 'outcome is won or lost')
  made['status'] = outcome
  await objects.put(made)
  await objects.emit('charge.dispute.closed', made)
  return answered(made)
}

export async function createRefund(
  objects: ProcessorObjects,
  form: Form,
): Promise<ProcessorAnswer> {
  const intent = await objects.get(formText(form, 'payment_intent'), 'pi')
  demand(intent, ['succeeded'])
  const left = Number(intent['amount']) - Number(intent['amount_refunded'] ?? 0)
  const cents = Number(formText(form, 'amount') ?? left)
  if (!Number.isInteger(cents) || cents < 1 || cents > left)
    throw new ProcessorRefusal(
      400,
      'charge_already_refunded',
      `Refund amount is greater than ${left}`,
    )
  const { behaviour } = await methodOf(objects, String(intent['payment_method']))
  const refund: ProcessorObject = {
    id: objects.newId('re'),
    object: 'refund',
    amount: cents,
    charge: intent['latest_charge'],
    created: objects.now,
    currency: intent['currency'],
    metadata: formPart(form, 'metadata'),
    payment_intent: intent.id,
    status: 'succeeded',
  }
  intent['amount_refunded'] = Number(intent['amount_refunded'] ?? 0) + cents
  await objects.put(intent)
  await objects.put(refund)
  // As at Stripe, one refund has three events.
  for (const type of ['refund.created', 'refund.updated', 'charge.refund.updated'])
    await objects.emit(type, refund)
  if (behaviour !== 'refund_fails') return answered(refund)
  // The bank refuses the refund later, as Stripe's test card for failed refunds does.
  const failed = { ...refund, status: 'failed', failure_reason: 'expired_or_canceled_card' }
  await objects.put(failed)
  await objects.emit('refund.failed', failed)
  return answered(refund)
}

/** Throws ProcessorRefusal. */
function demand(intent: ProcessorObject, states: readonly string[]): void {
  const { status } = intent
  if (!states.includes(String(status)))
    throw new ProcessorRefusal(
      400,
      'payment_intent_unexpected_state',
      `This PaymentIntent has a status of ${String(status)}`,
    )
}
