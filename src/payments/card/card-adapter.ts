// Cards by the SDK of Stripe, at Stripe or at the embedded test processor, which speaks the same routes.
import type { Stripe } from 'stripe'
import { messageOf } from '#base/errors.ts'
import type { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type {
  CallOutcome,
  MethodOrder,
  PaymentAdapter,
  PaymentFact,
  PaymentOrder,
  ProcessorEvent,
  RefundOrder,
  WebhookHeaders,
} from '#payments/adapter.ts'
import {
  EVENT_TYPES,
  factsOfEvent,
  factsOfIntent,
  failureOf,
  ON_PAGE,
  PUSD_PER_CENT,
} from './card-facts.ts'

export type CardSettings = {
  readonly name: string
  readonly env: 'live' | 'test'
  /** The address of the processor. */
  readonly url: string
  readonly key: Secret
  readonly webhookSecret: Secret
  /** The page that a payer comes back to from the bank, or from the processor; what the page says moves nothing. */
  readonly returnUrl: string
}

const TIMEOUT_MS = 20_000
const RETRIES_MAX = 2
/** As the interface has it for our own webhooks: an older or newer signature is refused. */
export const TOLERANCE_S = 300
const PAGE = 100
/** A time with more pages of events is read in parts. */
const PAGES_MAX = 20
const SPAN_S_MIN = 60
const DAY_S = 86_400
/** The processor's own memory of its events. */
const KEPT_DAYS = 30
const WITH_CHARGE = { expand: ['latest_charge'] }

export function createCardAdapter(settings: CardSettings): PaymentAdapter {
  const { name, env } = settings
  let opened: Promise<Stripe> | undefined
  // Loaded with the first payment: few processes make one.
  const open = () => (opened ??= openSdk(settings))
  return {
    name,
    env,
    customer: (account) => call(async () => (await newCustomer(await open(), account)).id),
    setUp: (order) => call(async () => setUp(await open(), settings, order)),
    forget: (method) =>
      call(async () => {
        const sdk = await open()
        await sdk.paymentMethods.detach(method).catch(demandRefused)
      }),
    closePage: (page) =>
      call(async () => {
        const sdk = await open()
        await sdk.checkout.sessions.expire(page).catch(demandRefused)
      }),
    authorize: (order) =>
      call(async () => pay(await open(), settings, { ...order, capture: 'manual' })),
    charge: (order) =>
      call(async () => pay(await open(), settings, { ...order, capture: 'automatic' })),
    capture: (payment, reference) =>
      call(async () => {
        const sdk = await open()
        await sdk.paymentIntents.capture(reference, {}, { idempotencyKey: `${payment}.capture` })
      }),
    void: (payment, reference) =>
      call(async () => {
        const sdk = await open()
        await sdk.paymentIntents
          .cancel(reference, {}, { idempotencyKey: `${payment}.void` })
          .catch(demandEnded)
      }),
    refund: (order) => call(async () => refund(await open(), order)),
    parseWebhook: async (bytes, headers) =>
      await parseWebhook(await open(), settings, { bytes, headers }),
    reconcile: (since, signal) => eventsSince(open, env, { since, signal }),
    event: (id) =>
      call(async () => {
        const sdk = await open()
        return await factsWithMore(sdk, await sdk.events.retrieve(id), env)
      }),
    look: (reference) =>
      call(async () => {
        const intent = await (await open()).paymentIntents.retrieve(reference, WITH_CHARGE)
        return factsOfIntent(intent, env)
      }),
  }
}

async function openSdk({ url, key }: CardSettings): Promise<Stripe> {
  const { Stripe: Sdk } = await import('stripe')
  const { protocol, hostname, port } = new URL(url)
  return new Sdk(key.reveal(), {
    host: hostname,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    protocol: protocol === 'https:' ? 'https' : 'http',
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES_MAX,
    telemetry: false,
  })
}

/** Errors of the SDK as ours: its messages may quote the request. */
async function call<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw fault('payment_processor_away', 'Could not ask the payment processor', { cause })
  }
}

/** A card that is detached already is refused, and a page that has ended. */
function demandRefused(error: unknown): void {
  if ((error as Stripe.errors.StripeError).type !== 'StripeInvalidRequestError') throw error
}

/** A payment that was paid or canceled meanwhile cannot be voided; its facts tell. */
function demandEnded(error: unknown): void {
  if ((error as Stripe.errors.StripeError).code !== 'payment_intent_unexpected_state') throw error
}

const newCustomer = (sdk: Stripe, account: string) =>
  sdk.customers.create({ metadata: { account } }, { idempotencyKey: `${account}.customer` })

async function setUp(
  sdk: Stripe,
  settings: CardSettings,
  order: MethodOrder,
): Promise<CallOutcome> {
  const { reference } = order
  return await declinable(async () =>
    reference === undefined
      ? await openPage(sdk, settings, order)
      : await confirmSetUp(sdk, settings, { ...order, reference }),
  )
}

async function confirmSetUp(
  sdk: Stripe,
  { returnUrl }: CardSettings,
  { method, account, customer, reference }: MethodOrder & { readonly reference: string },
): Promise<CallOutcome> {
  const setup = await sdk.setupIntents.create(
    {
      customer,
      usage: 'off_session',
      allowed_payment_method_types: ['card'],
      metadata: { account, method },
      payment_method: reference,
      confirm: true,
      return_url: returnUrl,
    },
    { idempotencyKey: method },
  )
  const isDone = setup.status === 'succeeded'
  return { reference: setup.id, ...(isDone ? {} : { action: actionOf(setup) }) }
}

/** The processor's own page, on which the payer gives a card; it is valid for a day. */
async function openPage(
  sdk: Stripe,
  { returnUrl }: CardSettings,
  { method, account, customer }: MethodOrder,
): Promise<CallOutcome> {
  const session = await sdk.checkout.sessions.create(
    {
      mode: 'setup',
      customer,
      allowed_payment_method_types: ['card'],
      metadata: { account, method },
      setup_intent_data: { metadata: { account, method, [ON_PAGE]: 'true' } },
      success_url: returnUrl,
      cancel_url: returnUrl,
    },
    { idempotencyKey: method },
  )
  const { setup_intent: setup, url } = session
  const reference = typeof setup === 'string' ? setup : (setup?.id ?? session.id)
  return { reference, page: session.id, action: { url, client_secret: null } }
}

async function pay(
  sdk: Stripe,
  { returnUrl }: CardSettings,
  order: PaymentOrder & { readonly capture: 'manual' | 'automatic' },
): Promise<CallOutcome> {
  const { payment, account, amount, customer, method, isOffSession, capture } = order
  return await declinable(async () => {
    const intent = await sdk.paymentIntents.create(
      {
        amount: Number(amount / PUSD_PER_CENT),
        currency: 'usd',
        customer,
        payment_method: method,
        allowed_payment_method_types: ['card'],
        capture_method: capture,
        confirm: true,
        metadata: { payment, account },
        // A payer who is there may be asked to confirm; nobody is there for an automatic top-up.
        ...(isOffSession
          ? { off_session: true }
          : { setup_future_usage: 'off_session', return_url: returnUrl }),
      },
      { idempotencyKey: payment },
    )
    const isWaiting = intent.status === 'requires_action'
    return { reference: intent.id, ...(isWaiting ? { action: actionOf(intent) } : {}) }
  })
}

async function refund(
  sdk: Stripe,
  { refund: id, reference, amount }: RefundOrder,
): Promise<CallOutcome> {
  return await declinable(async () => {
    const made = await sdk.refunds.create(
      {
        payment_intent: reference,
        amount: Number(amount / PUSD_PER_CENT),
        metadata: { refund: id },
      },
      { idempotencyKey: id },
    )
    return { reference: made.id }
  })
}

/** A refusal of the bank is an outcome; the intent that was refused is in the error. */
async function declinable(work: () => Promise<CallOutcome>): Promise<CallOutcome> {
  try {
    return await work()
  } catch (error) {
    const { type, payment_intent: intent, setup_intent: setup } = error as Stripe.errors.StripeError
    if (type !== 'StripeCardError' && type !== 'StripeInvalidRequestError') throw error
    return {
      reference: intent?.id ?? setup?.id ?? '',
      failure: failureOf(error as Stripe.errors.StripeError),
    }
  }
}

const actionOf = ({
  client_secret: secret,
  next_action: next,
}: Pick<Stripe.PaymentIntent, 'client_secret'> & {
  readonly next_action: { readonly redirect_to_url?: { readonly url: string | null } } | null
}) => ({ url: next?.redirect_to_url?.url ?? null, client_secret: secret })

async function parseWebhook(
  sdk: Stripe,
  { env, webhookSecret }: CardSettings,
  { bytes, headers }: { readonly bytes: Uint8Array; readonly headers: WebhookHeaders },
): Promise<readonly PaymentFact[]> {
  const event = verified(sdk, webhookSecret, { bytes, headers })
  if (event.livemode !== (env === 'live'))
    throw fault(
      'webhook_forged',
      `Could not accept the webhook: it is of ${event.livemode ? 'live' : 'test'} money, and this endpoint is for ${env} money`,
    )
  return await factsWithMore(sdk, event, env)
}

/** Asks the processor for what an event lacks: the end of a hold, and the card of a set-up. */
async function factsWithMore(
  sdk: Stripe,
  event: Stripe.Event,
  env: CardSettings['env'],
): Promise<readonly PaymentFact[]> {
  if (event.type === 'payment_intent.amount_capturable_updated') {
    const { id } = event.data.object
    const intent = await call(() => sdk.paymentIntents.retrieve(id, WITH_CHARGE))
    return factsOfIntent(intent, env, event.id)
  }
  const facts = factsOfEvent(event, env)
  const [fact] = facts
  if (fact?.type !== 'method_ready') return facts
  const { card } = await call(() => sdk.paymentMethods.retrieve(fact.method ?? ''))
  const label = card ? `${card.brand} ending in ${card.last4}` : ''
  return [{ ...fact, label }]
}

function verified(
  sdk: Stripe,
  secret: Secret,
  { bytes, headers }: { readonly bytes: Uint8Array; readonly headers: WebhookHeaders },
): Stripe.Event {
  const signature = headers['stripe-signature'] ?? ''
  // The SDK refuses old signatures alone. One of a later time could be kept, and sent when that comes.
  const [, at] = /(?:^|,)t=(\d+)/.exec(signature) ?? []
  if (Number(at) > Date.now() / 1000 + TOLERANCE_S) throw late()
  try {
    return sdk.webhooks.constructEvent(Buffer.from(bytes), signature, secret.reveal(), TOLERANCE_S)
  } catch (cause) {
    if (cause instanceof SyntaxError)
      throw fault('invalid_json', 'Could not accept the webhook: its body is no JSON')
    if (/tolerance/i.test(messageOf(cause))) throw late()
    throw fault('webhook_forged', 'Could not accept the webhook: its signature does not fit')
  }
}

const late = () =>
  fault('webhook_late', `Could not accept the webhook: its time is more than ${TOLERANCE_S} s away`)

/**
 * The processor lists the newest first, and facts are applied in the order in which they happened. A day is read at a time,
 * or a part of a busy one: memory never has the events of a month, and a run that is cut off has told some.
 */
async function* eventsSince(
  open: () => Promise<Stripe>,
  env: 'live' | 'test',
  { since, signal }: { readonly since: Date; readonly signal: AbortSignal },
): AsyncGenerator<ProcessorEvent> {
  const sdk = await open()
  const nowS = Math.floor(Date.now() / 1000)
  let fromS = Math.max(Math.floor(since.getTime() / 1000), nowS - KEPT_DAYS * DAY_S)
  let spanS = DAY_S
  for (let isLast = false; !isLast;) {
    // The processor's clock may be ahead: the last day has no end.
    const isToNow = fromS + spanS > nowS
    const created = { gte: fromS, ...(isToNow ? {} : { lt: fromS + spanS }) }
    const pagesMax = spanS > SPAN_S_MIN ? PAGES_MAX : Infinity
    const found = await listEvents(sdk, { created, pagesMax, signal })
    if (found === undefined) {
      spanS = Math.max(Math.floor(spanS / 8), SPAN_S_MIN)
      continue
    }
    for (const event of found.toReversed())
      yield {
        id: event.id,
        at: new Date(event.created * 1000),
        facts: () => factsWithMore(sdk, event, env),
      }
    fromS += spanS
    isLast = isToNow
  }
}

type EventSpan = {
  readonly created: Stripe.RangeQueryParam
  readonly pagesMax: number
  readonly signal: AbortSignal
}

/** The events of a time, the newest first; undefined where they exceed the limit of pages. */
async function listEvents(
  sdk: Stripe,
  { created, pagesMax, signal }: EventSpan,
): Promise<Stripe.Event[] | undefined> {
  const found: Stripe.Event[] = []
  const list = { created, types: [...EVENT_TYPES], limit: PAGE }
  for (let after: string | undefined, pages = 1; ; pages++) {
    signal.throwIfAborted()
    const more = after === undefined ? {} : { starting_after: after }
    const page = await call(() => sdk.events.list({ ...list, ...more }))
    found.push(...page.data)
    after = page.data.at(-1)?.id
    if (!page.has_more || after === undefined) return found
    if (pages === pagesMax) return undefined
  }
}
