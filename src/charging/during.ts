// Work that is no request: a task, a delivery, a session of another protocol. It is admitted like a request, settled
// each minute while it goes on and at its end, and cut when its payer or its ceiling ends. So a session of hours is
// on the bill by the minute, and a killed process loses a minute of it at most, in the payer's favour.
import { dayBeginOf, type TimerClock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { nj, smaller, subtract, type Nj } from '#base/units.ts'
import { chargeEnergy } from '#contract/ledger/charge.ts'
import { fault } from '#contract/errors.ts'
import type { OperationName } from '#contract/operations.ts'
import type { JoinedThread } from '#metering/marks.ts'
import type { OpenSpend } from './open-spend.ts'
import { isSilent } from './faults.ts'
import { keyOfUpstream } from './measure.ts'
import type { Payer, Served, Spend, Claim } from './spend.ts'

export type LongWork = {
  /** The payer of the next minute: funds and budgets may change while the work goes on. */
  readonly payerOf: () => Payer | Promise<Payer>
  readonly operation: OperationName
  /** The most energy that all of it may be billed. */
  readonly ceilingNj: Nj
  readonly served?: Served
  /** Ends the work early: the signal of the work aborts with the same error. */
  readonly signal?: AbortSignal
}

/** Reports of the work while it runs; figures of cells and upstreams are cumulative from its begin. */
export type WorkMeter = Pick<Spend, 'mark' | 'claim' | 'claimThread'>

/** The part of a spend that long work uses. */
export type WorkSpend = Pick<
  OpenSpend,
  | 'admit'
  | 'bound'
  | 'claim'
  | 'claimThread'
  | 'cut'
  | 'cutReason'
  | 'drop'
  | 'finish'
  | 'fromMs'
  | 'happened'
  | 'mark'
  | 'measured'
  | 'served'
  | 'settle'
>

export type DuringDeps = {
  readonly charging: { open(): WorkSpend }
  readonly clock: TimerClock
}

const MINUTE_MS = 60_000
const STATUS_DONE = 200
const STATUS_FAILED = 500

/**
 * Does the work, and resolves with its result once it is charged. Throws `balance_depleted`,
 * `free_tier_exceeded`, `budget_exhausted` or `state_unavailable` where the work is not admitted. `signal` aborts with
 * that error when the hold cannot grow, the ceiling is reached, the token is revoked or the process drains. The energy
 * until the end of the work is charged as far as it is held.
 */
export async function during<T>(
  deps: DuringDeps,
  long: LongWork,
  work: (meter: WorkMeter, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const minutes = await openMinutes(deps, long)
  let status = STATUS_FAILED
  try {
    const result = await work(minutes, minutes.signal)
    status = STATUS_DONE
    return result
  } catch (error) {
    if (error instanceof ErgonError) ({ status } = error)
    throw error
  } finally {
    await minutes.end(status)
  }
}

/** Work of one minute after the other: each settles when the next one is admitted. */
async function openMinutes({ charging, clock }: DuringDeps, long: LongWork) {
  long.signal?.throwIfAborted()
  const abort = new AbortController()
  const claims = createClaims()
  let leftNj = long.ceilingNj
  const admit = async (ceilingNj: Nj) => {
    if (ceilingNj === 0n)
      throw fault('ceiling_reached', 'Could not go on: the work used its ceiling')
    const minute = charging.open()
    try {
      await minute.admit(await long.payerOf(), long.operation, ceilingNj)
    } catch (error) {
      minute.drop()
      throw error
    }
    minute.served(long.served ?? {})
    const cut = () => abort.abort(minute.cutReason)
    if (minute.cut.aborted) cut()
    else minute.cut.addEventListener('abort', cut, { once: true })
    return minute
  }
  const settle = async (minute: Awaited<ReturnType<typeof admit>>, status: number) => {
    // A minute without work has no charge: a login to a database that cannot start would make a record of nothing.
    if (minute.measured() === 0n) return minute.drop()
    // The hold grows by the energy that was measured since it last grew.
    await minute.finish()
    leftNj = subtract(leftNj, smaller(leftNj, chargeEnergy(minute.settle(status))))
  }
  let running = await admit(leftNj)
  const turn = async () => {
    // The minute is billed what it used until now, so that the next one has the rest of the ceiling.
    const before = running
    before.bound(nj(0n))
    const beginMs = Math.floor(clock.wallMs() / MINUTE_MS) * MINUTE_MS
    const next = await admit(subtract(leftNj, smaller(leftNj, before.measured())))
    // Its clock says a few milliseconds later: at midnight they would put the minute on the new day.
    if (beginMs === dayBeginOf(beginMs) && before.fromMs < beginMs)
      before.happened({ fromMs: before.fromMs, toMs: beginMs - 1 })
    running = next
    claims.settled()
    await settle(before, STATUS_DONE)
  }
  let turning = Promise.resolve()
  let cancelTimer = () => {}
  const schedule = () => {
    // Whole minutes, so that none has a midnight in it: a free tier is of a day.
    cancelTimer = clock.setTimer(MINUTE_MS - (clock.wallMs() % MINUTE_MS), () => {
      turning = turn().catch((error: unknown) => {
        // While the ledger is away the minute goes on inside its hold.
        if (!isSilent(error)) abort.abort(error)
      })
      void turning.then(schedule)
    })
  }
  schedule()
  return {
    signal: long.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, long.signal]),
    mark: () => running.mark(),
    claimThread: (thread: JoinedThread, cpuNs: number) => running.claimThread(thread, cpuNs),
    claim: (used: Claim) => running.claim(claims.take(used)),
    async end(status: number) {
      await turning
      cancelTimer()
      running.mark()
      await settle(running, status)
    },
  }
}

/** Cumulative claims of all of the work, as claims of its last minute. */
function createClaims() {
  const seen = new Map<string, { last: bigint; settled: bigint }>()
  /** An upstream may declare less than was counted of it, and was settled. */
  const restOf = (name: string, last: bigint): bigint => {
    const settled = seen.get(name)?.settled ?? 0n
    seen.set(name, { last, settled })
    return last > settled ? last - settled : 0n
  }
  return {
    take(used: Claim): Claim {
      if (used.kind === 'upstream')
        return { ...used, energyNj: nj(restOf(`upstream ${keyOfUpstream(used)}`, used.energyNj)) }
      const { cell, cpuNs, gpuNs = 0n } = used
      return { ...used, cpuNs: restOf(`cpu ${cell}`, cpuNs), gpuNs: restOf(`gpu ${cell}`, gpuNs) }
    },
    settled() {
      for (const claim of seen.values()) claim.settled = claim.last
    },
  }
}
