// The routes of the test processor: those of Stripe's API that the SDK needs, and a few that only tests need.
import type { Queryable } from '#state/connect.ts'
import { closeCheckout, createCheckout, submitCheckout } from './checkout.ts'
import { checkoutPage } from './checkout-page.ts'
import { formPart, formTexts, formText, type Form } from './form.ts'
import {
  cancelIntent,
  captureIntent,
  closeDispute,
  confirmIntent,
  createIntent,
  createRefund,
} from './intents.ts'
import { confirmSetup, createCustomer, createMethod, createSetup, detachMethod } from './methods.ts'
import {
  answered,
  ProcessorRefusal,
  type ProcessorAnswer,
  type ProcessorObject,
  type ProcessorObjects,
} from './objects.ts'

type ProcessorCall = {
  readonly state: Queryable
  readonly objects: ProcessorObjects
  readonly id: string
  readonly form: Form
}
type ProcessorRoute = {
  readonly method: 'GET' | 'POST'
  readonly path: RegExp
  readonly run: (call: ProcessorCall) => Promise<ProcessorAnswer>
}

const route = (
  method: ProcessorRoute['method'],
  path: string,
  run: ProcessorRoute['run'],
): ProcessorRoute => ({ method, path: new RegExp(`^${path.replace(':id', '(\\w{1,64})')}$`), run })

const ROUTES: readonly ProcessorRoute[] = [
  route('POST', '/v1/customers', ({ objects, form }) => createCustomer(objects, form)),
  route('GET', '/v1/customers/:id', one('cus')),
  route('POST', '/v1/payment_methods', ({ objects, form }) => createMethod(objects, form)),
  route('GET', '/v1/payment_methods/:id', one('pm')),
  route('POST', '/v1/payment_methods/:id/detach', async ({ objects, id }) =>
    detachMethod(objects, await objects.get(id, 'pm')),
  ),
  route('POST', '/v1/setup_intents', ({ objects, form }) => createSetup(objects, form)),
  route('GET', '/v1/setup_intents/:id', one('seti')),
  route('POST', '/v1/setup_intents/:id/confirm', async ({ objects, id, form }) => {
    const method = formText(form, 'payment_method')
    const by = method === undefined ? {} : { method }
    return confirmSetup(objects, await objects.get(id, 'seti'), by)
  }),
  route('POST', '/v1/checkout/sessions', ({ objects, form }) => createCheckout(objects, form)),
  route('GET', '/v1/checkout/sessions/:id', one('cs_test')),
  route('POST', '/v1/checkout/sessions/:id/expire', async ({ objects, id }) =>
    closeCheckout(objects, await objects.get(id, 'cs_test')),
  ),
  route('POST', '/v1/payment_intents', ({ objects, form }) => createIntent(objects, form)),
  route('GET', '/v1/payment_intents/:id', intent),
  route('POST', '/v1/payment_intents/:id/confirm', async ({ objects, id, form }) => {
    const found = await objects.get(id, 'pi')
    found['payment_method'] = formText(form, 'payment_method') ?? found['payment_method']
    return confirmIntent(objects, found, {})
  }),
  route('POST', '/v1/payment_intents/:id/capture', async ({ objects, id }) =>
    captureIntent(objects, await objects.get(id, 'pi')),
  ),
  route('POST', '/v1/payment_intents/:id/cancel', async ({ objects, id, form }) =>
    cancelIntent(
      objects,
      await objects.get(id, 'pi'),
      formText(form, 'cancellation_reason') ?? null,
    ),
  ),
  route('POST', '/v1/refunds', ({ objects, form }) => createRefund(objects, form)),
  route('GET', '/v1/refunds/:id', one('re')),
  route('GET', '/v1/events', events),
  route('GET', '/v1/events/:id', event),
  route('GET', '/v1/disputes', disputes),
  // The processor's page, where the payer gives a card.
  route('GET', '/test/checkout/:id', async ({ objects, id }) =>
    checkoutPage(await objects.get(id, 'cs_test')),
  ),
  route('POST', '/test/checkout/:id', async ({ objects, id, form }) =>
    submitCheckout(objects, await objects.get(id, 'cs_test'), form),
  ),
  // The bank's page, where the payer says yes or no.
  route('GET', '/test/authenticate/:id', authenticate),
  route('POST', '/test/disputes/:id', async ({ objects, id, form }) =>
    closeDispute(objects, await objects.get(id, 'dp'), formText(form, 'outcome')),
  ),
  route('POST', '/test/clock', advance),
]

/** Runs a call in its transaction. Throws ProcessorRefusal. */
export async function runCall(
  method: string,
  path: string,
  call: Omit<ProcessorCall, 'id'>,
): Promise<ProcessorAnswer> {
  for (const { method: of, path: pattern, run } of ROUTES) {
    const found = of === method ? pattern.exec(path) : null
    if (found !== null) return await run({ ...call, id: found[1] ?? '' })
  }
  throw new ProcessorRefusal(404, 'url_invalid', `Unrecognized request URL (${method}: ${path})`)
}

function one(prefix: string): ProcessorRoute['run'] {
  return async ({ objects, id }) => answered(await objects.get(id, prefix))
}

async function intent({ objects, id, form }: ProcessorCall): Promise<ProcessorAnswer> {
  const found = await objects.get(id, 'pi')
  const charge = found['latest_charge']
  if (!formTexts(form, 'expand').includes('latest_charge') || charge === null)
    return answered(found)
  return answered({ ...found, latest_charge: await objects.get(String(charge), 'ch') })
}

const PAGE_MAX = 100

async function events({ state, form }: ProcessorCall): Promise<ProcessorAnswer> {
  const created = formPart(form, 'created')
  const limit = Math.min(Number(formText(form, 'limit') ?? 10), PAGE_MAX)
  const { rows } = await state.query<{ body: object }>(
    `select body from test_processor_events where created >= $1 and created < $4
       and (cardinality($5::text[]) = 0 or body ->> 'type' = any ($5)) and seq < coalesce((select seq from test_processor_events where id = $2), 9223372036854775807)
     order by seq desc limit $3`,
    [
      formText(created, 'gte') ?? 0,
      formText(form, 'starting_after') ?? '',
      limit + 1,
      formText(created, 'lt') ?? Number.MAX_SAFE_INTEGER,
      formTexts(form, 'types'),
    ],
  )
  return answered({
    object: 'list',
    url: '/v1/events',
    has_more: rows.length > limit,
    data: rows.slice(0, limit).map(({ body }) => body),
  })
}

async function event({ state, id }: ProcessorCall): Promise<ProcessorAnswer> {
  const { rows } = await state.query<{ body: object }>(
    'select body from test_processor_events where id = $1',
    [id],
  )
  const [row] = rows
  if (row === undefined)
    throw new ProcessorRefusal(404, 'resource_missing', `No such event: '${id}'`)
  return answered(row.body)
}

async function disputes({ state, form }: ProcessorCall): Promise<ProcessorAnswer> {
  const { rows } = await state.query<{ body: ProcessorObject }>(
    `select body from test_processor_objects where kind = 'dispute' and body ->> 'payment_intent' = $1`,
    [formText(form, 'payment_intent') ?? ''],
  )
  const data = rows.map(({ body }) => body)
  return answered({ object: 'list', url: '/v1/disputes', has_more: false, data })
}

async function authenticate({ objects, id, form }: ProcessorCall): Promise<ProcessorAnswer> {
  const isRefused = formText(form, 'outcome') === 'refuse'
  if (id.startsWith('seti_')) {
    const setup = await objects.get(id, 'seti')
    return isRefused ? answered(setup) : confirmSetup(objects, setup, { isAuthenticated: true })
  }
  const found = await objects.get(id, 'pi')
  return isRefused
    ? cancelIntent(objects, found, 'abandoned')
    : confirmIntent(objects, found, { isAuthenticated: true })
}

/** Puts the processor's clock ahead. */
async function advance({ state, form }: ProcessorCall): Promise<ProcessorAnswer> {
  const seconds = Number(formText(form, 'seconds'))
  if (!Number.isInteger(seconds) || seconds < 0)
    throw new ProcessorRefusal(400, 'parameter_invalid', 'seconds is a whole number')
  await state.query('update test_processor_clock set ahead_s = ahead_s + $1', [seconds])
  return answered({ object: 'clock', seconds })
}
