// The reading of a processor's events: what a run that was cut off has done is kept, and an obstacle stops only itself.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import type { TasksCore } from '#node/tasks-part.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { PaymentAdapter, PaymentFact, ProcessorEvent } from './adapter.ts'
import { reconcilePayments } from './reconcile.ts'
import { PAYMENTS_TASKS } from './tasks.ts'

const EVENTS = 1000
const BEGAN_MS = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000
const OPTIONS = { skip: whyNoState() }
const log = createLogger('test', { level: 'error', write: () => undefined })

let state: State
ledgerOfFile(2, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'acct_1', env: 'test', lowWater: 0n })
})
beforeEach(async () => {
  await state?.query(
    'truncate payment_facts, payment_cursors, payment_refunds, payment_failing_events, alarms',
  )
})

const timeOf = (nth: number) => BEGAN_MS + nth * 10_000

/** A processor with an event each ten seconds; the numbers of those that it was asked for, and the times asked since. */
class Processor {
  readonly asked: number[] = []
  readonly since: number[] = []
  /** Called when the facts of an event are asked for. */
  onAsked: (nth: number) => void = () => undefined
  /** So many new events come in a run; then it hangs. */
  perRun = EVENTS

  get adapter(): PaymentAdapter {
    return {
      name: 'card-test',
      reconcile: (since: Date, signal: AbortSignal) => this.#events(since.getTime(), signal),
      event: async (id: string) => this.#facts(Number(id.slice('evt_'.length))),
    } as Partial<PaymentAdapter> as PaymentAdapter
  }

  #facts(nth: number): PaymentFact[] {
    this.asked.push(nth)
    this.onAsked(nth)
    return [{ id: `evt_${nth}`, type: 'method_removed', method: `pm_${nth}` }]
  }

  async *#events(sinceMs: number, signal: AbortSignal): AsyncGenerator<ProcessorEvent> {
    this.since.push(sinceMs)
    const before = this.asked.length
    for (let nth = 1; nth <= EVENTS; nth++) {
      if (timeOf(nth) < sinceMs) continue
      if (this.asked.length - before >= this.perRun) await once(signal, 'abort')
      yield {
        id: `evt_${nth}`,
        at: new Date(timeOf(nth)),
        facts: async () => this.#facts(nth),
      }
    }
  }
}

const cursorMs = async () =>
  (await state.query<{ at: Date }>('select at from payment_cursors')).rows[0]?.at.getTime()
const read = (
  processor: Processor,
  { signal = new AbortController().signal, stepMs }: { signal?: AbortSignal; stepMs?: number } = {},
) => reconcilePayments({ state, adapter: processor.adapter, log }, signal, stepMs)

test(
  'a run that is cut off keeps its progress, and no known fact is asked for again',
  OPTIONS,
  async () => {
    const processor = new Processor()
    const ending = new AbortController()
    processor.onAsked = (nth) => nth === 600 && ending.abort()
    await assert.rejects(read(processor, { signal: ending.signal }), { name: 'AbortError' })
    assert.equal(await cursorMs(), timeOf(600))
    await read(processor)
    assert.deepEqual(processor.since, [0, timeOf(600) - HOUR_MS])
    assert.deepEqual(
      processor.asked,
      Array.from({ length: EVENTS }, (_, nth) => nth + 1),
    )
    assert.equal(await cursorMs(), timeOf(EVENTS))
  },
)

test('an event that cannot be applied is tried again by itself', OPTIONS, async () => {
  const alarms = async () =>
    (
      await state.query<{ event: string }>(
        "select detail ->> 'event' as event from alarms where kind = 'payment_event_failing'",
      )
    ).rows.map(({ event }) => event)
  const processor = new Processor()
  processor.onAsked = (nth) => {
    if (nth === 500) throw new RangeError('it cannot be read')
  }
  await assert.rejects(read(processor), RangeError)
  assert.equal(processor.asked.at(-1), EVENTS)
  assert.equal(await cursorMs(), timeOf(EVENTS))
  assert.deepEqual(await alarms(), [])
  processor.asked.length = 0
  for (let times = 0; times < 2; times++) await assert.rejects(read(processor), RangeError)
  assert.deepEqual(processor.asked, [500, 500])
  assert.deepEqual(await alarms(), ['evt_500'])
  processor.onAsked = () => undefined
  await read(processor)
  await read(processor)
  assert.deepEqual(processor.asked, [500, 500, 500])
})

test('a first event that always fails holds up none of many in short steps', OPTIONS, async () => {
  const processor = new Processor()
  processor.perRun = 300
  processor.onAsked = (nth) => {
    if (nth === 1) throw new RangeError('it cannot be read')
  }
  for (let runs = 1; (await cursorMs()) !== timeOf(EVENTS); runs++) {
    assert.ok(runs <= 100, 'the last events were never read')
    // Each run throws it, also in one whose time is over.
    await assert.rejects(read(processor, { stepMs: 1500 }), RangeError)
  }
  assert.deepEqual(
    [...new Set(processor.asked)],
    Array.from({ length: EVENTS }, (_, nth) => nth + 1),
  )
  const { rows } = await state.query('select id from payment_failing_events')
  assert.deepEqual(rows, [{ id: 'evt_1' }])
})

test(
  'a refund that the processor may have made is not given up while events cannot be read',
  OPTIONS,
  async () => {
    await state.query(
      `insert into payments (id, account, processor, kind, amount_pusd, state, created_at, changed_at)
     values ('pay_1', 'acct_1', 'card-test', 'topup', 1, 'captured', now(), now())`,
    )
    await state.query(
      `insert into payment_refunds (id, payment, amount_pusd, state, created_at)
     values ('refund_1', 'pay_1', 1, 'pending', '2026-01-01')`,
    )
    const processor = new Processor()
    processor.onAsked = (nth) => {
      if (nth === EVENTS) throw new RangeError('it cannot be read')
    }
    for (let times = 0; times < 2; times++) {
      await assert.rejects(read(processor), RangeError)
      const { rows } = await state.query('select state from payment_refunds')
      assert.deepEqual(rows, [{ state: 'pending' }])
    }
  },
)

test('a processor that is away holds up neither another one nor the rest', OPTIONS, async (t) => {
  let listed = 0
  const server = createServer((_, response) => {
    listed++
    response.setHeader('content-type', 'application/json')
    response.end('{"object":"list","data":[],"has_more":false}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const card = (name: string, at: number) => ({
    name,
    env: 'test' as const,
    url: `http://127.0.0.1:${at}`,
    key: 'sk_test_1',
    webhookSecret: 'whsec_1',
    returnUrl: 'http://127.0.0.1/',
  })
  const { tasks = {} } = await PAYMENTS_TASKS.open(
    { state, log } as TasksCore,
    {
      // Nothing listens at the first.
      cards: [card('card-away', 1), card('card-test', port)],
      stablecoins: [],
      topUpUrl: '',
      topUpApi: '',
    } as never,
  )
  const run = (name: string) =>
    tasks[name]?.run({}, { signal: t.signal, log, progress: () => undefined })
  await assert.rejects(async () => run('payments.reconcile'), { code: 'payment_processor_away' })
  assert.ok(listed > 0, 'the other processor was not asked')
  for (const name of ['claims', 'unwatched']) await run(`payments.${name}`)
})

test(
  'events that cannot be read, or take all the time, hold up no other step',
  OPTIONS,
  async () => {
    await state.query(
      `insert into payments (id, account, processor, kind, amount_pusd, reference, state, created_at, changed_at)
     values ('pay_quiet', 'acct_1', 'card-test', 'topup', 1, 'pi_quiet', 'created', now(), now() - interval '1 hour')`,
    )
    const looked: string[] = []
    const run = async (reconcile: PaymentAdapter['reconcile'], stepMs?: number) => {
      const look = async (reference: string) => {
        looked.push(reference)
        return []
      }
      await state.query("update payments set looked_at = '-infinity'")
      const adapter = { name: 'card-test', reconcile, look } as Partial<PaymentAdapter>
      const deps = { state, adapter: adapter as PaymentAdapter, log }
      await reconcilePayments(deps, new AbortController().signal, stepMs)
    }
    // oxlint-disable-next-line require-yield
    const fails = async function* (): AsyncGenerator<ProcessorEvent> {
      throw new RangeError('it cannot be listed')
    }
    await assert.rejects(run(fails), RangeError)
    assert.deepEqual(looked.splice(0), ['pi_quiet'])
    // The events of a busy hour: the rest of them is of the next run, and no failure.
    const endless = async function* (): AsyncGenerator<ProcessorEvent> {
      for (let nth = 1; ; nth++)
        yield { id: `evt_${nth}`, at: new Date(timeOf(nth)), facts: async () => [] }
    }
    await run(endless, 200)
    assert.deepEqual(looked, ['pi_quiet'])
    assert.ok((await cursorMs()) !== undefined)
  },
)
