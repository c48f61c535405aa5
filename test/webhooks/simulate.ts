// One history of the dispatcher in virtual time, a function of its seed. Endpoints answer, fail, hang or are gone; owners
// pause and resume; the state is away, or stores and does not say so; the process is killed. The state is a model of
// sql/deliveries.sql.
import { createLogger } from '#base/log.ts'
import { createAddressRule } from '#egress/addresses.ts'
import type { WorkBills } from '#charging/work-bills.ts'
import {
  ACCOUNT_AT_ONCE,
  createDispatcher,
  type Dispatcher,
} from '#webhooks/delivery/dispatcher.ts'
import { AT_ONCE_MAX } from '#webhooks/delivery/lane.ts'
import type { Attempted, DueEndpoint, Queue, WantedDeliveries } from '#webhooks/delivery/queue.ts'
import { DELAYS_MS } from '#webhooks/delivery/schedule.ts'
import type { Attempt, Outcome, DeliverySender } from '#webhooks/delivery/send.ts'
import { LifeClock, Schedule } from '../sim/schedule.ts'

/** Faults of the state that the history must notice. */
export const WEBHOOK_PLANTS = [
  'settles nothing',
  'gives paused endpoints',
  'gives too early',
] as const
export type WebhookPlant = (typeof WEBHOOK_PLANTS)[number]

type Behaviour = 'answers' | 'fails' | 'hangs' | 'is gone' | 'fails at times'
type SimEndpoint = {
  readonly id: string
  readonly account: string
  readonly behaviour: Behaviour
  status: 'active' | 'paused' | 'disabled'
  turnedMs: number
  failures: number
  restUntilMs: number
  running: number
}
type SimDelivery = {
  readonly id: string
  readonly endpoint: SimEndpoint
  readonly madeMs: number
  readonly isNoticed: boolean
  state: 'pending' | 'delivered' | 'dead'
  attempts: number
  nextMs: number
  isRunning: boolean
  wasTaken: boolean
  firstMs: number | undefined
}

export type WebhookHistory = {
  readonly faults: readonly string[]
  readonly deliveries: number
  readonly requests: number
}

const START_WALL_MS = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000
const BUSY_MS = 60_000
const LIMIT_MS = 200 * HOUR_MS
/** A planted fault shows soon, or not in this history. */
const PLANTED_LIMIT_MS = HOUR_MS / 4
const HANGS_MS = 15_000
const PROBE_AFTER = 10
const SOON_MS = 1000
/** An attempt begins, and is sent once its account has a bill. */
const BILL_MS = 5
const quiet = createLogger('sim', { level: 'error', write: () => undefined })

export async function simulateWebhooks(
  seed: number,
  plant?: WebhookPlant,
): Promise<WebhookHistory> {
  return await new History(seed, plant).run()
}

class History {
  readonly #schedule: Schedule
  readonly #plant: WebhookPlant | undefined
  readonly #faults: string[] = []
  readonly #endpoints: SimEndpoint[] = []
  readonly #deliveries: SimDelivery[] = []
  /** Neither kills nor a state that is away nor owners' acts: then each first attempt is soon. */
  readonly #isCalm: boolean
  #requests = 0
  #awayUntilMs = 0
  #life: { dispatcher: Dispatcher; clock: LifeClock; ending: AbortController } | undefined

  constructor(seed: number, plant: WebhookPlant | undefined) {
    this.#schedule = new Schedule(seed, START_WALL_MS)
    this.#plant = plant
    this.#isCalm = this.#schedule.chance() < 0.3
  }

  async run(): Promise<WebhookHistory> {
    const schedule = this.#schedule
    this.#makeEndpoints()
    this.#begin()
    for (let count = schedule.between(5, 60); count > 0; count--)
      schedule.after(schedule.between(0, BUSY_MS), () => this.#emit())
    if (!this.#isCalm) this.#planFaults()
    await schedule.run(BUSY_MS + 10_000, () => this.#faults.length > 0)
    const limitMs = this.#plant === undefined ? LIMIT_MS : PLANTED_LIMIT_MS
    await schedule.run(limitMs, () => this.#faults.length > 0 || this.#isOver())
    this.#judge()
    return { faults: this.#faults, deliveries: this.#deliveries.length, requests: this.#requests }
  }

  #makeEndpoints(): void {
    const schedule = this.#schedule
    // An endpoint that always fails takes the whole schedule: days of virtual time.
    const others: readonly [Behaviour, ...Behaviour[]] =
      schedule.chance() < 0.1
        ? ['fails', 'hangs', 'is gone', 'fails at times']
        : ['answers', 'is gone', 'fails at times']
    for (let nth = 0, count = schedule.between(1, 6); nth < count; nth++)
      this.#endpoints.push({
        id: `we_${nth}`,
        account: `acct_${nth % 2}`,
        behaviour: nth === 0 ? 'answers' : schedule.pick(others),
        status: 'active',
        turnedMs: 0,
        failures: 0,
        restUntilMs: 0,
        running: 0,
      })
  }

  #planFaults(): void {
    const schedule = this.#schedule
    const at = (act: () => void) => schedule.after(schedule.between(0, BUSY_MS), act)
    for (let count = schedule.between(0, 3); count > 0; count--) at(() => this.#kill())
    for (let count = schedule.between(0, 2); count > 0; count--)
      at(() => (this.#awayUntilMs = schedule.nowMs + schedule.between(100, 8000)))
    for (let count = schedule.between(0, 4); count > 0; count--) at(() => this.#emitAndTurn())
    // At last all are active again.
    schedule.after(BUSY_MS + SOON_MS, () => {
      for (const endpoint of this.#endpoints) if (endpoint.status === 'paused') this.#turn(endpoint)
    })
  }

  #begin(): void {
    const clock = new LifeClock(this.#schedule, 1)
    const ending = new AbortController()
    const dispatcher = createDispatcher({
      queue: this.#queueOf(clock),
      sender: this.#senderOf(clock),
      rule: createAddressRule([]),
      bills: this.#billsOf(clock),
      clock,
      log: quiet,
      random: () => this.#schedule.chance(),
    })
    this.#life = { dispatcher, clock, ending }
    void dispatcher.run(ending.signal)
  }

  #kill(): void {
    if (this.#life === undefined) return
    this.#life.clock.alive = false
    this.#life = undefined
    for (const endpoint of this.#endpoints) endpoint.running = 0
    for (const delivery of this.#deliveries) delivery.isRunning = false
    this.#schedule.after(this.#schedule.between(200, 3000), () => this.#begin())
  }

  /** Pauses or resumes; the notice comes in the same moment. */
  #turn(endpoint: SimEndpoint): void {
    if (endpoint.status === 'disabled') return
    endpoint.status = endpoint.status === 'active' ? 'paused' : 'active'
    endpoint.turnedMs = this.#schedule.nowMs
    endpoint.failures = 0
    endpoint.restUntilMs = 0
    this.#life?.dispatcher.changed(endpoint.id)
  }

  /** While the state is asked for a new delivery, its endpoint is paused or resumed. */
  #emitAndTurn(): void {
    const endpoint = this.#anyEndpoint()
    this.#emit(endpoint)
    this.#schedule.after(this.#schedule.between(1, 40), () => this.#turn(endpoint))
  }

  #anyEndpoint(): SimEndpoint {
    return this.#schedule.pick(this.#endpoints as [SimEndpoint, ...SimEndpoint[]])
  }

  #emit(endpoint = this.#anyEndpoint()): void {
    const nowMs = this.#schedule.nowMs
    const isNoticed = this.#schedule.chance() < 0.9
    this.#deliveries.push({
      id: String(this.#deliveries.length),
      endpoint,
      madeMs: nowMs,
      isNoticed,
      state: 'pending',
      attempts: 0,
      nextMs: nowMs,
      isRunning: false,
      wasTaken: false,
      firstMs: undefined,
    })
    if (isNoticed) this.#life?.dispatcher.wake(endpoint.id)
  }

  #queueOf(clock: LifeClock): Queue {
    const answer = async <T>(look: () => T): Promise<T> => {
      await clock.sleep(this.#schedule.between(1, 30))
      if (this.#schedule.nowMs < this.#awayUntilMs) throw new TypeError('the state is away')
      // The way back takes its time, too: the answer is of a moment before.
      const found = look()
      await clock.sleep(this.#schedule.between(1, 30))
      return found
    }
    return {
      due: (wanted) => answer(() => this.#due(wanted)),
      nextMs: () => answer(() => this.#nextMs()),
      settle: async (attempts) => {
        await answer(() => {
          if (this.#plant !== 'settles nothing') for (const one of attempts) this.#settle(one)
        })
        // Stored, and the answer is lost.
        if (!this.#isCalm && this.#schedule.chance() < 0.01) throw new TypeError('no answer')
      },
    }
  }

  #due({ endpoints: ids, each, known }: WantedDeliveries): DueEndpoint[] {
    const { nowMs } = this.#schedule
    const early = this.#plant === 'gives too early' ? 2000 : 0
    const isGiven = ({ status }: SimEndpoint) =>
      status === 'active' || this.#plant === 'gives paused endpoints'
    return this.#endpoints
      .filter((one) => isGiven(one) && one.restUntilMs <= nowMs && (ids?.includes(one.id) ?? true))
      .map((endpoint) => ({
        id: endpoint.id,
        account: endpoint.account,
        url: `https://${endpoint.id.replace('_', '-')}.example.com/`,
        secrets: ['whsec_AAAA'],
        deliveries: this.#deliveries
          .filter((one) => one.endpoint === endpoint && one.state === 'pending')
          .filter(({ id }) => endpoint.failures >= PROBE_AFTER || !known.includes(id))
          .filter(({ nextMs }) => nextMs <= nowMs + early)
          .toSorted((a, b) => a.nextMs - b.nextMs)
          .slice(0, endpoint.failures >= PROBE_AFTER ? 1 : each)
          .map(({ id, attempts }) => ({
            id,
            event: id,
            type: 'balance.low',
            body: Buffer.from(id),
            attempts,
          })),
      }))
      .filter(({ deliveries }) => deliveries.length > 0)
  }

  #nextMs(): number | undefined {
    const times = this.#deliveries
      .filter(({ state, endpoint }) => state === 'pending' && endpoint.status === 'active')
      .map(({ nextMs, endpoint }) => Math.max(nextMs, endpoint.restUntilMs))
    return times.length === 0 ? undefined : Math.min(...times) - this.#schedule.nowMs
  }

  #settle({ id, attempts, outcome, delayMs }: Attempted): void {
    const delivery = this.#deliveries[Number(id)]
    if (delivery?.state !== 'pending' || delivery.attempts !== attempts) return
    const { nowMs } = this.#schedule
    const { endpoint } = delivery
    delivery.attempts++
    delivery.state = outcome.isDelivered ? 'delivered' : delayMs === null ? 'dead' : 'pending'
    delivery.nextMs = nowMs + (delayMs ?? 0)
    endpoint.failures = outcome.isDelivered ? 0 : endpoint.failures + 1
    if (!outcome.isDelivered && endpoint.failures >= PROBE_AFTER)
      endpoint.restUntilMs = nowMs + 60_000
    if (outcome.status === 410) endpoint.status = 'disabled'
  }

  #senderOf(clock: LifeClock): DeliverySender {
    return {
      send: async (attempt) => {
        const delivery = this.#begun(attempt)
        const { status, tookMs } = this.#answerOf(delivery.endpoint)
        await clock.sleep(tookMs)
        const isDelivered = status === 200
        delivery.isRunning = false
        delivery.endpoint.running--
        delivery.wasTaken ||= isDelivered
        const error = isDelivered ? null : 'failed'
        return { isDelivered, status, error, tookMs, answer: '', restMs: null } satisfies Outcome
      },
      close: () => undefined,
    }
  }

  /** A request is on its way: everything that may not be is noted. */
  #begun({ body }: Attempt): SimDelivery {
    const { nowMs } = this.#schedule
    const delivery = this.#deliveries[Number(String(Buffer.from(body)))]
    if (delivery === undefined) throw new TypeError('no such delivery')
    const { endpoint, id } = delivery
    const note = (what: string) =>
      this.#faults.push(`${Math.round(nowMs)} ms: delivery ${id} ${what}`)
    this.#requests++
    if (delivery.isRunning) note('is sent twice at once')
    if (delivery.state !== 'pending') note(`is sent although it is ${delivery.state}`)
    if (this.#isCalm && delivery.wasTaken) note('is sent again without a fault')
    if (delivery.nextMs > nowMs) note('is sent before its time')
    if (endpoint.status === 'paused' && nowMs > endpoint.turnedMs + BILL_MS)
      note('is sent to a paused endpoint')
    delivery.firstMs ??= nowMs
    delivery.isRunning = true
    endpoint.running++
    if (endpoint.running > AT_ONCE_MAX) note('is one too many of its endpoint')
    const running = this.#endpoints
      .filter(({ account }) => account === endpoint.account)
      .reduce((sum, one) => sum + one.running, 0)
    if (running > ACCOUNT_AT_ONCE) note('is one too many of its account')
    return delivery
  }

  #answerOf({ behaviour }: SimEndpoint): { status: number | null; tookMs: number } {
    const tookMs = this.#schedule.between(2, 60)
    switch (behaviour) {
      case 'answers':
        return { status: 200, tookMs }
      case 'fails':
        return { status: 500, tookMs }
      case 'hangs':
        return { status: null, tookMs: HANGS_MS }
      case 'is gone':
        return { status: 410, tookMs }
      case 'fails at times':
        return { status: this.#schedule.chance() < 0.7 ? 200 : 503, tookMs }
      default:
        return behaviour satisfies never
    }
  }

  /** Some accounts cannot pay; a bill is there at once or after some time. */
  #billsOf(clock: LifeClock): WorkBills {
    return {
      take: ({ account }) => {
        const bill = {
          isPaid: account !== 'acct_1' || this.#isCalm,
          mark: () => undefined,
          release: () => undefined,
        }
        return this.#schedule.chance() < 0.5 ? bill : clock.sleep(BILL_MS).then(() => bill)
      },
      close: async () => undefined,
    }
  }

  #isOver(): boolean {
    return this.#deliveries.every(
      ({ state, endpoint }) => state !== 'pending' || endpoint.status === 'disabled',
    )
  }

  #judge(): void {
    for (const one of this.#deliveries) {
      const note = (what: string) => this.#faults.push(`delivery ${one.id} ${what}`)
      if (one.state === 'pending' && one.endpoint.status !== 'disabled') note('never ended')
      if (one.state === 'dead' && one.attempts !== DELAYS_MS.length)
        note(`died after ${one.attempts} attempts`)
      if (one.state === 'delivered' && !one.wasTaken) note('counts and was never taken')
      const waitMs = (one.firstMs ?? Infinity) - one.madeMs
      if (this.#isCalm && one.isNoticed && one.endpoint.behaviour === 'answers' && waitMs > SOON_MS)
        note(`waited ${waitMs} ms for others`)
    }
  }
}
