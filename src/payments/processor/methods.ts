// Customers, cards and set-ups at the test processor.
import { formPart, formText, type Form } from './form.ts'
import {
  answered,
  ProcessorRefusal,
  type ProcessorAnswer,
  type ProcessorObject,
  type ProcessorObjects,
} from './objects.ts'
import { askPayer } from './ask-payer.ts'
import {
  cardOfNumber,
  cardOfToken,
  refusalOf,
  type Behaviour,
  type TestCard,
} from './test-cards.ts'

export type TestMethod = ProcessorObject & {
  readonly behaviour: Behaviour
  readonly card: object
  is_set_up: boolean
}

/** A method by its id, or a new one of a test token. Throws ProcessorRefusal. */
export async function methodOf(objects: ProcessorObjects, name: string): Promise<TestMethod> {
  const card = cardOfToken(name)
  if (card === undefined) return (await objects.get(name, 'pm')) as TestMethod
  return await newMethod(objects, card)
}

export async function createMethod(
  objects: ProcessorObjects,
  form: Form,
): Promise<ProcessorAnswer> {
  return answered(await methodOfNumber(objects, formText(formPart(form, 'card'), 'number')))
}

/** A new method of a test card. Throws ProcessorRefusal. */
export async function methodOfNumber(
  objects: ProcessorObjects,
  number: string | undefined,
): Promise<TestMethod> {
  const card = cardOfNumber(number ?? '')
  if (card === undefined)
    throw new ProcessorRefusal(
      402,
      'incorrect_number',
      'The number is not of a test card: give no real card to the test processor.',
    )
  return await newMethod(objects, card)
}

async function newMethod(
  objects: ProcessorObjects,
  { brand, number, behaviour }: TestCard,
): Promise<TestMethod> {
  const method: TestMethod = {
    id: objects.newId('pm'),
    object: 'payment_method',
    type: 'card',
    behaviour,
    card: { brand, last4: number.slice(-4), exp_month: 12, exp_year: 2040 },
    created: objects.now,
    customer: null,
    livemode: false,
    is_set_up: false,
  }
  await objects.put(method)
  return method
}

export async function detachMethod(
  objects: ProcessorObjects,
  method: ProcessorObject,
): Promise<ProcessorAnswer> {
  method['customer'] = null
  await objects.put(method)
  await objects.emit('payment_method.detached', method)
  return answered(method)
}

export async function createCustomer(
  objects: ProcessorObjects,
  form: Form,
): Promise<ProcessorAnswer> {
  const customer: ProcessorObject = {
    id: objects.newId('cus'),
    object: 'customer',
    created: objects.now,
    livemode: false,
    metadata: formPart(form, 'metadata'),
  }
  await objects.put(customer)
  return answered(customer)
}

export async function createSetup(objects: ProcessorObjects, form: Form): Promise<ProcessorAnswer> {
  const setup = await newSetup(objects, form)
  const method = formText(form, 'payment_method')
  if (method === undefined || formText(form, 'confirm') !== 'true') return answered(setup)
  return await confirmSetup(objects, setup, { method })
}

/** A set-up that has no card yet. */
export async function newSetup(objects: ProcessorObjects, form: Form): Promise<ProcessorObject> {
  const id = objects.newId('seti')
  const customer = await objects.get(formText(form, 'customer'), 'cus')
  const setup: ProcessorObject = {
    id,
    object: 'setup_intent',
    client_secret: `${id}_secret_${objects.newId('s').slice(2)}`,
    created: objects.now,
    customer: customer.id,
    last_setup_error: null,
    livemode: false,
    metadata: formPart(form, 'metadata'),
    next_action: null,
    payment_method: null,
    return_url: formText(form, 'return_url') ?? null,
    status: 'requires_payment_method',
    usage: 'off_session',
  }
  await objects.put(setup)
  return setup
}

export async function confirmSetup(
  objects: ProcessorObjects,
  setup: ProcessorObject,
  by: { readonly method?: string; readonly isAuthenticated?: boolean },
): Promise<ProcessorAnswer> {
  if (setup['status'] === 'succeeded' || setup['status'] === 'canceled')
    throw new ProcessorRefusal(400, 'setup_intent_unexpected_state', 'The SetupIntent has ended')
  const method = await methodOf(objects, by.method ?? String(setup['payment_method'] ?? ''))
  setup['payment_method'] = method.id
  const refusal = refusalOf(method.behaviour, 'set up')
  if (refusal !== undefined) {
    const error = { type: 'card_error', message: 'The test card was declined.', ...refusal }
    setup['status'] = 'requires_payment_method'
    setup['last_setup_error'] = error
    await objects.put(setup)
    await objects.emit('setup_intent.setup_failed', setup)
    return { status: 402, body: { error: { ...error, setup_intent: setup } } }
  }
  if (method.behaviour.startsWith('authenticates') && by.isAuthenticated !== true) {
    await askPayer(objects, setup)
    return answered(setup)
  }
  setup['status'] = 'succeeded'
  setup['next_action'] = null
  await objects.put(setup)
  await objects.put({ ...method, customer: setup['customer'], is_set_up: true })
  await objects.emit('setup_intent.succeeded', setup)
  return answered(setup)
}
