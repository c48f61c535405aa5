// Checkout sessions of the test processor in mode setup: its own page, on which a payer gives a card.
import { checkoutPage } from './checkout-page.ts'
import { formPart, formText, type Form } from './form.ts'
import { confirmSetup, methodOfNumber, newSetup } from './methods.ts'
import {
  answered,
  ProcessorRefusal,
  type ProcessorAnswer,
  type ProcessorObject,
  type ProcessorObjects,
} from './objects.ts'

/** As at Stripe, where the call names no other time. */
const OPEN_S = 86_400

export async function createCheckout(
  objects: ProcessorObjects,
  form: Form,
): Promise<ProcessorAnswer> {
  if (formText(form, 'mode') !== 'setup')
    throw new ProcessorRefusal(400, 'parameter_invalid', 'mode is setup here')
  const id = objects.newId('cs_test')
  const metadata = formPart(formPart(form, 'setup_intent_data'), 'metadata')
  const setup = await newSetup(objects, { customer: form['customer'] ?? '', metadata })
  const session: ProcessorObject = {
    id,
    object: 'checkout.session',
    cancel_url: formText(form, 'cancel_url') ?? null,
    client_secret: null,
    created: objects.now,
    customer: setup['customer'],
    expires_at: objects.now + OPEN_S,
    livemode: false,
    metadata: formPart(form, 'metadata'),
    mode: 'setup',
    payment_status: 'no_payment_required',
    setup_intent: setup.id,
    status: 'open',
    success_url: addressIn(form, 'success_url'),
    url: `${objects.url}/test/checkout/${id}`,
  }
  await objects.put(session)
  return answered(session)
}

/** The form of the page: the number of a card, or the payer's answer to the bank. */
export async function submitCheckout(
  objects: ProcessorObjects,
  session: ProcessorObject,
  form: Form,
): Promise<ProcessorAnswer> {
  if (session['status'] !== 'open') return checkoutPage(session)
  const setup = await objects.get(String(session['setup_intent']), 'seti')
  const answer = formText(form, 'bank')
  if (answer === 'refuse') return checkoutPage(session, { notice: 'The bank was told no.' })
  const made =
    answer === 'confirm'
      ? await confirmSetup(objects, setup, { isAuthenticated: true })
      : await giveCard(objects, setup, formText(form, 'number'))
  if (typeof made === 'string') return checkoutPage(session, { notice: made })
  if (setup['status'] === 'requires_action') return checkoutPage(session, { isAtBank: true })
  if (setup['status'] !== 'succeeded')
    return checkoutPage(session, { notice: 'The test card was declined: try another one.' })
  session['status'] = 'complete'
  await objects.put(session)
  await objects.emit('checkout.session.completed', session)
  return { status: 303, body: '', location: String(session['success_url']) }
}

/** A text says why the number is refused. */
async function giveCard(
  objects: ProcessorObjects,
  setup: ProcessorObject,
  number: string | undefined,
): Promise<ProcessorAnswer | string> {
  try {
    const { id } = await methodOfNumber(objects, number)
    return await confirmSetup(objects, setup, { method: id })
  } catch (error) {
    if (error instanceof ProcessorRefusal) return error.message
    throw error
  }
}

/** Closes a page that nobody filled in. */
export async function expireCheckout(
  objects: ProcessorObjects,
  session: ProcessorObject,
): Promise<ProcessorObject> {
  const setup = await objects.get(String(session['setup_intent']), 'seti')
  await objects.put({ ...setup, status: 'canceled' })
  const ended = { ...session, status: 'expired', url: null }
  await objects.put(ended)
  await objects.emit('checkout.session.expired', ended)
  return ended
}

/** Closes it early, as its maker asks. */
export async function closeCheckout(
  objects: ProcessorObjects,
  session: ProcessorObject,
): Promise<ProcessorAnswer> {
  if (session['status'] !== 'open')
    throw new ProcessorRefusal(400, 'parameter_invalid', 'Only open sessions can be expired')
  return answered(await expireCheckout(objects, session))
}

function addressIn(form: Form, name: string): string {
  const text = formText(form, name) ?? ''
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new ProcessorRefusal(400, 'url_invalid', `Not a valid URL: ${name}`)
  return text
}
