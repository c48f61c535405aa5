// A backlog larger than the memory of the dispatcher, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { createAddressRule } from '#egress/addresses.ts'
import { createDispatcher, KNOWN_MAX } from '#webhooks/delivery/dispatcher.ts'
import type { DueEndpoint, Queue } from '#webhooks/delivery/queue.ts'
import type { DeliverySender } from '#webhooks/delivery/send.ts'
import { LifeClock, Schedule } from '../sim/schedule.ts'

const ENDPOINTS = 120
const BACKLOG_EACH = 256
const RUN_S = 10

function dispatcherOf(clock: LifeClock, queue: Queue, send: DeliverySender['send']) {
  return createDispatcher({
    queue,
    sender: { send, close: () => undefined },
    rule: createAddressRule([]),
    bills: {
      take: () => ({ isPaid: true, mark: () => undefined, release: () => undefined }),
      close: async () => undefined,
    },
    clock,
    log: createLogger('test', { level: 'error', write: () => undefined }),
    random: () => 0.5,
  })
}

const DELIVERED = {
  isDelivered: true,
  status: 204,
  error: null,
  tookMs: 1,
  answer: null,
  restMs: null,
}

const dueOf = (nth: number, ids: readonly string[]): DueEndpoint => ({
  id: `we_${nth}`,
  account: `acct_${nth}`,
  url: `https://e${nth}.example.com/`,
  secrets: ['whsec_AAAA'],
  deliveries: ids.map((id) => ({
    id,
    event: id,
    type: 'balance.low',
    body: Buffer.from(id),
    attempts: 0,
  })),
})

test('an attempt that our own fault prevents has failed, and holds no place', async () => {
  const schedule = new Schedule(1, Date.UTC(2026, 0, 1))
  const clock = new LifeClock(schedule, 1)
  const errors: (string | null)[] = []
  const queue: Queue = {
    due: async () => (errors.length === 0 ? [dueOf(0, ['1', '2'])] : []),
    nextMs: async () => undefined,
    settle: async (made) => void errors.push(...made.map(({ outcome }) => outcome.error)),
  }
  const ending = new AbortController()
  const dispatcher = dispatcherOf(clock, queue, () => Promise.reject(new TypeError('planted')))
  void dispatcher.run(ending.signal)
  schedule.after(1, () => dispatcher.wake('we_0'))
  await schedule.run(1000)
  assert.deepEqual(errors, ['the service could not send it', 'the service could not send it'])
  ending.abort()
})

test('endpoints of 150 accounts that hang leave a place for the delivery of another account', async () => {
  const schedule = new Schedule(1, Date.UTC(2026, 0, 1))
  const clock = new LifeClock(schedule, 1)
  // Ten endpoints of an account: its limit of 64 attempts.
  const hanging = 1500
  let hung = 0
  let answered = 0
  const given = new Set<string>()
  const queue: Queue = {
    async due({ known }) {
      const count = hung === 0 ? hanging : hanging + 1
      const here = new Set([...known, ...given])
      const found = Array.from({ length: count }, (_, nth) =>
        dueOf(nth, nth < hanging ? Array.from({ length: 8 }, (__, n) => `${nth}.${n}`) : ['good']),
      )
      return found.map(({ deliveries, ...endpoint }) => {
        const fresh = deliveries.filter(({ id }) => !here.has(id))
        for (const { id } of fresh) given.add(id)
        const account = `acct_${Math.floor(Number(endpoint.id.slice('we_'.length)) / 10)}`
        return { ...endpoint, account, deliveries: fresh }
      })
    },
    nextMs: async () => 0,
    settle: async () => undefined,
  }
  const dispatcher = dispatcherOf(clock, queue, ({ target }) => {
    if (target.hostname === `e${hanging}.example.com`) {
      answered++
      return Promise.resolve(DELIVERED)
    }
    hung++
    return new Promise(() => undefined)
  })
  const ending = new AbortController()
  void dispatcher.run(ending.signal)
  schedule.after(1, () => dispatcher.wake('we_0'))
  await schedule.run(5000)
  assert.ok(hung > 1000, String(hung))
  assert.equal(answered, 1)
  ending.abort()
})

test('a backlog is fetched as far as there is room, and a full memory does not ask again and again', async () => {
  const schedule = new Schedule(1, Date.UTC(2026, 0, 1))
  const clock = new LifeClock(schedule, 1)
  const given = new Set<string>()
  let asks = 0
  let timers = 0
  const setTimer = clock.setTimer.bind(clock)
  clock.setTimer = (ms, fire) => {
    timers++
    return setTimer(ms, fire)
  }
  const backlogOf = (endpoint: number) =>
    Array.from({ length: BACKLOG_EACH }, (_, nth) => `${endpoint * BACKLOG_EACH + nth}`)
  const queue: Queue = {
    async due({ most, each, known }) {
      asks++
      await clock.sleep(5)
      const here = new Set(known)
      let left = most
      return Array.from({ length: ENDPOINTS }, (_, nth) => {
        const ids = backlogOf(nth)
          .filter((id) => !here.has(id))
          .slice(0, Math.min(each, left))
        left -= ids.length
        for (const id of ids) given.add(id)
        return dueOf(nth, ids)
      }).filter(({ deliveries }) => deliveries.length > 0)
    },
    nextMs: async () => 0,
    settle: async () => undefined,
  }
  const ending = new AbortController()
  // Nobody answers: what was fetched stays.
  const dispatcher = dispatcherOf(clock, queue, () => new Promise(() => undefined))
  void dispatcher.run(ending.signal)
  schedule.after(1, () => {
    for (let nth = 0; nth < ENDPOINTS; nth++) dispatcher.wake(`we_${nth}`)
  })
  // News of a moment at which there is no room.
  schedule.after(RUN_S * 500, () => dispatcher.wake('we_0'))
  await schedule.run(RUN_S * 1000)
  assert.ok(given.size > KNOWN_MAX / 2, `${given.size} deliveries`)
  assert.ok(given.size <= KNOWN_MAX, `${given.size} deliveries in memory`)
  assert.ok(asks <= 3 * RUN_S, `${asks} asks in ${RUN_S} s`)
  // Two for each turn, and those of the asks.
  assert.ok(timers <= 6 * RUN_S, `${timers} timers in ${RUN_S} s`)
  ending.abort()
})
