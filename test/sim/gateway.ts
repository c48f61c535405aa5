// A gateway of the simulation: the real journal, replay, session, leases, charging and token cache, on
// a clock, a disk and a network that are not. It is killed, loses power, stops and starts again.
import { ErgonError } from '#base/errors.ts'
import { createLogger } from '#base/log.ts'
import { nj, priceCeiling } from '#base/units.ts'
import { createCharging, type Charging } from '#charging/charging.ts'
import { Journal, readJournals } from '#charging/journal.ts'
import { Leases } from '#charging/leases.ts'
import { replay } from '#charging/replay.ts'
import { Session } from '#charging/session.ts'
import type { Spend } from '#charging/spend.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { createIdentity, type Identity } from '#identity/identity.ts'
import type { Principal } from '#identity/principal.ts'
import type { Books } from '#ledger/reference/books.ts'
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import type { Ledger } from '#ledger/tick.ts'
import { createMarks } from '#metering/marks.ts'
import type { Queryable } from '#state/connect.ts'
import { MemoryDisk } from './disk.ts'
import type { Plant } from './faults.ts'
import { createNetLedger } from './network.ts'
import { LifeClock, type Schedule } from './schedule.ts'

// Small, so that segments turn every few charges and leases are asked for again and again.
const SEGMENT_BYTES = 8192
const LEASE_LEAST_NJ = nj(300_000_000n)
const SYNC_MS_MAX = 8
// A group is synced 20 ms after its first write, by a clock that drifts, after the group before it.
const NOT_DURABLE_MS = 60
const log = createLogger('sim', { level: 'error', write: () => {} })

/** A receipt's id that left: with the figures, or before them in the head of a stream. */
export type Told = { readonly atMs: number; readonly id: string }
export type Call = {
  readonly token: string
  readonly ceiling: bigint
  /** The reply waits until its charge survives a power cut. */
  readonly durable?: boolean
  /** The receipt's id leaves with the head, before the work. */
  readonly streamed?: boolean
  readonly steps: readonly { readonly waitMs: number; readonly cpuNs: bigint }[]
}
export type Served = { readonly admitted: boolean; readonly charge: Charge }

export type GatewayDeps = {
  readonly name: string
  readonly schedule: Schedule
  readonly books: Books
  readonly lossPercent: () => number
  readonly plant: Plant
  readonly tokens: Queryable
  /** Called before each act of the disk, and around each commit of the ledger. */
  readonly point?: (act: string) => void
  /** A broken promise of the code: the run fails. */
  readonly broken: (error: unknown) => void
}

type Life = {
  clock: LifeClock
  session: Session
  journal: Journal
  charging: Charging
  identity: Identity
  spendCpu: (ns: number) => void
}

export class Gateway {
  readonly name: string
  isCut = false
  life: Life | undefined
  readonly disk: MemoryDisk
  readonly told: Told[] = []
  /** The figures that left. */
  readonly acknowledged: Charge[] = []
  readonly #deps: GatewayDeps
  #clock: LifeClock
  #diskFails = false
  #stop = { fromMs: 0, untilMs: Number.NEGATIVE_INFINITY }

  constructor(deps: GatewayDeps) {
    this.name = deps.name
    this.#deps = deps
    const { schedule } = deps
    this.#clock = this.#newClock()
    this.disk = new MemoryDisk({
      before: (act) => {
        deps.point?.(`before a ${act}`)
        // Killed at this point: it does not happen any more.
        if (!this.#clock.alive) throw new ErgonError({ code: 'EIO', status: 500 }, 'Killed')
        if (!this.#diskFails || act === 'remove') return
        this.#diskFails = false
        throw new ErgonError({ code: 'EIO', status: 500 }, 'Input/output error')
      },
      later: (done) => {
        const { alive } = this.#clock
        schedule.after(schedule.between(1, SYNC_MS_MAX), () => {
          if (alive && this.#clock.alive) done()
        })
      },
    })
    void this.#boot(this.#clock)
  }

  /** Serves a call as the pipeline does; undefined when there is no life to serve it. */
  async serve(call: Call): Promise<Served | undefined> {
    const { life } = this
    if (life === undefined) return undefined
    const { charging, identity, clock } = life
    const work = charging.open()
    let status = 200
    let admitted = false
    try {
      life.spendCpu(30_000)
      const caller: Principal = await identity.identify(`Bearer ${call.token}`)
      await work.admit(caller, 'chat.create', LEAST_HOLD_NJ)
      await work.admit(caller, 'chat.create', nj(call.ceiling))
      admitted = true
      if (call.streamed === true) {
        work.announce(200)
        await recorded(work)
        if (!clock.alive) return undefined
        this.told.push({ atMs: this.#deps.schedule.nowMs, id: work.receiptId })
      }
      for (const { waitMs, cpuNs } of call.steps) {
        await clock.sleep(waitMs)
        if (work.cutReason !== undefined) throw work.cutReason
        life.spendCpu(10_000)
        work.mark()
        work.claim({ kind: 'cpu', cell: 'model', cpuNs })
      }
    } catch (error) {
      // A process that has exited does nothing more: what it would still throw is not the product's.
      if (!clock.alive) return undefined
      if (!(error instanceof ErgonError)) this.#deps.broken(error)
      else status = error.status
    }
    if (!clock.alive) return undefined
    try {
      const charge = work.settle(status)
      await recorded(work)
      if (call.durable === true) await life.journal.synced()
      if (!clock.alive) return undefined
      this.told.push({ atMs: this.#deps.schedule.nowMs, id: charge.id })
      this.acknowledged.push(charge)
      return { admitted, charge }
    } catch (error) {
      // Without a price nothing was ever admitted; without a disk no figures leave.
      if (!(error instanceof ErgonError)) this.#deps.broken(error)
      return undefined
    }
  }

  /** The next write or sync of the disk fails. */
  failDisk(): void {
    this.#diskFails = true
  }

  /** Neither computes nor syncs for a while. */
  stop(ms: number): void {
    const { nowMs } = this.#deps.schedule
    if (this.#stop.untilMs + NOT_DURABLE_MS < nowMs) this.#stop = { fromMs: nowMs, untilMs: nowMs }
    this.#stop.untilMs = Math.max(this.#stop.untilMs, nowMs + ms)
    this.#clock.stoppedUntilMs = this.#stop.untilMs
  }

  /** Records acknowledged until this time survive a power cut now. */
  get durableMs(): number {
    const { nowMs } = this.#deps.schedule
    const { fromMs, untilMs } = this.#stop
    return (untilMs + NOT_DURABLE_MS > nowMs ? fromMs : nowMs) - NOT_DURABLE_MS
  }

  /** Ends this life at once; a power cut takes what was not synced. Starts again after a while. */
  kill(how: 'kill' | 'power', downMs: number): void {
    if (!this.#clock.alive) return
    const { schedule } = this.#deps
    this.#clock.alive = false
    this.life?.session.abandon()
    this.life = undefined
    this.#diskFails = false
    this.disk.cutPower(how === 'kill' ? () => true : () => schedule.chance() < 0.5)
    schedule.after(downMs, () => {
      this.#clock = this.#newClock()
      void this.#boot(this.#clock)
    })
  }

  #newClock(): LifeClock {
    const { schedule } = this.#deps
    return new LifeClock(schedule, 0.98 + schedule.chance() * 0.04)
  }

  async #boot(clock: LifeClock): Promise<void> {
    for (;;) {
      try {
        this.life = await this.#open(clock)
        return
      } catch (error) {
        if (!(error instanceof ErgonError)) this.#deps.broken(error)
        await clock.sleep(200)
      }
    }
  }

  async #open(clock: LifeClock): Promise<Life> {
    const { schedule, books, lossPercent, plant, point } = this.#deps
    const link = { schedule, books, clock, cut: () => this.isCut, lossPercent, point }
    const ledger = createNetLedger(link)
    if (plant === 'dead session is released') await release(ledger, this.name)
    const { done } = await replay(ledger, this.name, readJournals(this.disk), 'm1')
    for (const file of done) this.disk.remove(file)
    const opened = await ledger.openSession(this.name)
    const ended = () => {
      if (clock.alive) this.kill('kill', 300)
    }
    const atTurnEnd = (fire: () => void) => void clock.setTimer(0, fire)
    const journal = new Journal({
      disk: this.disk,
      session: opened.session,
      clock,
      failed: ended,
      segmentBytes: SEGMENT_BYTES,
      atTurnEnd,
    })
    const leases: Leases = new Leases((want) =>
      want.startsWith('money:')
        ? priceCeiling(LEASE_LEAST_NJ, session.latest?.price.pusdPerJ ?? 0n)
        : LEASE_LEAST_NJ,
    )
    let cpuNs = 0
    const marks = createMarks({ cpuNs: () => cpuNs, wallNs: () => cpuNs, atTurnEnd })
    const session: Session = new Session({
      ledger,
      journal,
      leases,
      clock,
      log,
      meter: 'm1',
      opened,
      forget(changes) {
        identity.forget(changes)
        for (const change of changes) charging.revoke(change)
      },
      lost: (error) => {
        this.#deps.broken(error)
        ended()
      },
      ticked: () => charging.ticked(),
    })
    const believed = plant === 'stale token is honoured' ? alwaysFresh(session) : session
    const charging: Charging = createCharging({ session: believed, leases, marks, clock })
    const state = netQueries(this.#deps.tokens, { ...link })
    const identity: Identity = createIdentity({ state, session: believed, clock })
    return { clock, session, journal, charging, identity, spendCpu: (ns) => (cpuNs += ns) }
  }
}

const recorded = (work: Pick<Spend, 'recorded'>): Promise<void> =>
  new Promise((resolve, reject) =>
    work.recorded((failure) => (failure === undefined ? resolve() : reject(failure.error))),
  )

async function release(ledger: Ledger, process: string): Promise<void> {
  const open = await ledger.openSessionOf(process)
  if (open !== undefined) await ledger.closeSession(open.session)
}

const alwaysFresh = (session: Session): Session =>
  new Proxy(session, {
    get(target, name) {
      if (name === 'fresh') return true
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

// Some are slow enough for a tick to forget, in between, what they bring.
const lookUpMs = (schedule: Schedule) =>
  schedule.chance() < 0.1 ? schedule.between(100, 1500) : schedule.between(1, 40)

/** Look-ups of tokens take time, and fail while the way is cut. */
function netQueries(
  tokens: Queryable,
  link: { schedule: Schedule; clock: LifeClock; cut: () => boolean },
): Queryable {
  const { schedule, clock, cut } = link
  const wait = () =>
    new Promise<void>((resolve) => schedule.after(lookUpMs(schedule), () => clock.run(resolve)))
  return {
    async query(text, values) {
      await wait()
      if (cut()) throw new ErgonError({ code: '08006', status: 503 }, 'The connection was lost')
      const answer = await tokens.query(text, values)
      await wait()
      return answer as never
    },
  }
}
