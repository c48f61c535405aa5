// A product with the embedded card processor, and the processor as its own client sees it: by the SDK of Stripe.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Stripe } from 'stripe'
import { topupReply, type TopupReply } from '#contract/payments/payments.ts'
import { signatureOf } from '#payments/processor/deliver.ts'
import { testProcessorSecrets } from '#payments/settings.ts'
import { freeBlock } from '../ports.ts'
import { bookFaults } from '../books.ts'
import type { Settings } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'
import type { Answer, Payer } from './client.ts'

/** At a load of 25 from other tests a reconcile took more than 30 s. */
const SETTLED_MS_MAX = 120_000
const POLL_MS = 25
export const CENT = 10_000_000_000n
export const DOLLAR = 100n * CENT

let processorPort = 0
export const CARDS: Settings = async () => {
  processorPort = (await freeBlock()) + 1
  return { env: { ERGON_TEST_PROCESSOR_PORT: String(processorPort) } }
}

const secretsOf = ({ dataFolder }: Ergon) => {
  const { state } = JSON.parse(readFileSync(join(dataFolder, 'secrets.json'), 'utf8')) as {
    state: string
  }
  return testProcessorSecrets(state)
}

export const sdkOf = (ergon: Ergon): Stripe =>
  new Stripe(secretsOf(ergon).key, {
    host: '127.0.0.1',
    port: processorPort,
    protocol: 'http',
    telemetry: false,
    maxNetworkRetries: 0,
  })

/** Calls a route that only tests need. */
export async function processor(
  ergon: Ergon,
  method: string,
  path: string,
  body?: string,
): Promise<Record<string, unknown>> {
  const answer = await fetch(new URL(path, `http://127.0.0.1:${processorPort}`), {
    method,
    headers: { authorization: `Bearer ${secretsOf(ergon).key}` },
    ...(body === undefined ? {} : { body }),
  })
  if (!answer.ok) throw new TypeError(await answer.text())
  return (await answer.json()) as Record<string, unknown>
}

/** Sends an event as a processor would, signed at `seconds`; the gateway's answer. */
export async function tell(
  ergon: Ergon,
  event: unknown,
  more: {
    readonly seconds?: number
    readonly secret?: string
    readonly signature?: string
    readonly name?: string
  } = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const { seconds = Math.floor(Date.now() / 1000), name = 'card-test' } = more
  const secret = more.secret ?? secretsOf(ergon).webhookSecret
  const answer = await fetch(`${ergon.baseUrl}/v1/payment-webhooks/${name}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'stripe-signature': more.signature ?? signatureOf(body, secret, seconds),
    },
    body,
  })
  return { status: answer.status, text: await answer.text() }
}

export type Told = { readonly id: string; readonly type: string; readonly livemode: boolean } & {
  readonly data: { readonly object: Record<string, unknown> }
}

/** The event that told of a payment. */
export async function eventOf(ergon: Ergon, payment: string, type: string): Promise<Told> {
  const [row] = await ergon.sql<{ body: Told }>(
    `select body from test_processor_events where body ->> 'type' = $1
       and body -> 'data' -> 'object' -> 'metadata' ->> 'payment' = $2`,
    [type, payment],
  )
  if (row === undefined) throw new TypeError(`no ${type} of ${payment}`)
  return row.body
}

/** Runs work while the processor delivers nothing of what it makes. */
export async function withoutWebhooks<T>(ergon: Ergon, work: () => Promise<T>): Promise<T> {
  const silent = (attempts: number) =>
    ergon.sql(`alter table test_processor_events alter column attempts set default ${attempts}`)
  await silent(1000)
  try {
    return await work()
  } finally {
    await silent(0)
  }
}

/** Resolves when the processor answers: it starts after the gateways. */
export const processorAnswers = (ergon: Ergon): Promise<void> =>
  until(() =>
    processor(ergon, 'GET', '/v1/events').then(
      () => true,
      () => false,
    ),
  )

/** Adds a card by its test token and waits until it works. */
export async function addCard(payer: Payer, token = 'pm_card_visa'): Promise<string> {
  const added = await payer.call('POST', '/v1/payment-methods', { type: 'card', token })
  if (added.status !== 201) throw new TypeError(added.text)
  const id = String(added.json['id'])
  const signal = AbortSignal.timeout(SETTLED_MS_MAX)
  for (;;) {
    const { json } = await payer.call('GET', '/v1/payment-methods')
    const all = json['data'] as { id: string; status: string }[]
    if (all.some((one) => one.id === id && one.status === 'active')) return id
    await pause(POLL_MS, undefined, { signal })
  }
}

export const topUp = (payer: Payer, body: object): Promise<Answer> =>
  payer.call('POST', '/v1/topups', body)

/** The payment, once it has this status. */
export async function settled(
  payer: Payer,
  id: unknown,
  status: TopupReply['status'],
): Promise<TopupReply> {
  const signal = AbortSignal.timeout(SETTLED_MS_MAX)
  for (;;) {
    const topup = topupReply.parse((await payer.call('GET', `/v1/topups/${String(id)}`)).json)
    if (topup.status === status) return topup
    await pause(POLL_MS, undefined, { signal }).catch(() => {
      throw new TypeError(`${topup.id} is ${topup.status}, not ${status}`)
    })
  }
}

/** Pays in, and waits for the money. */
export async function paid(payer: Payer, body: object): Promise<TopupReply> {
  const made = await topUp(payer, body)
  if (made.status !== 201) throw new TypeError(made.text)
  return await settled(payer, made.json['id'], 'captured')
}

/** Runs a background task now, to its end. */
export async function runTask(ergon: Ergon, name: string): Promise<void> {
  const find = async () => (await ergon.control('task.list')).find((one) => one.name === name)
  // The process of tasks starts after the gateways.
  await until(async () => (await find()) !== undefined)
  const runs = async () => {
    const task = await find()
    return (task?.runs ?? 0) + (task?.failures ?? 0)
  }
  const before = await runs()
  await ergon.control('task.run', { name })
  const signal = AbortSignal.timeout(SETTLED_MS_MAX)
  while ((await runs()) === before) await pause(POLL_MS, undefined, { signal })
}

/** Polls until something holds. */
export async function until(what: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(SETTLED_MS_MAX)
  while (!(await what())) await pause(POLL_MS, undefined, { signal })
}

export const balanceOf = async (payer: Payer): Promise<bigint> =>
  BigInt(String((await payer.call('GET', '/v1/balance')).json['balance_pusd']))

/** Faults of the books, without the alarms that these tests mean to raise. */
export async function paymentFaults(ergon: Ergon): Promise<string[]> {
  await ergon.sql("delete from alarms where kind in ('payment_disputed', 'payment_mismatch')")
  return await bookFaults(ergon)
}
