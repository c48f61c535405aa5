// Turns for trials of new versions. A version that never loads holds its turn for the whole time of a load, so trials have
// a limit of their own, and an account has one at a time. An account whose trials fail rests before the next, the longer the
// more of them failed.
import { sleep } from '#base/clock.ts'
import { NotWanted } from './instances.ts'
import { NotYet } from './reconciler.ts'

/** Trials at once. */
const TRIALS_MAX = 8
const REST_MAX_MS = 300_000
/** A longer rest is not waited for: the account has other changes. */
const REST_HERE_MS = 5000

type WaitingTrial = { readonly account: string; readonly begin: () => void }

export interface Trials {
  /**
   * Does a trial when its turn has come; its result is whether it went well. One that throws went badly, unless nobody
   * wants its result any more, or it could not begin yet. Throws NotYet while the account rests.
   */
  run(account: string, trial: () => Promise<boolean>, signal: AbortSignal): Promise<boolean>
}

export function createTrials({ most = TRIALS_MAX, restHereMs = REST_HERE_MS } = {}): Trials {
  const failures = createFailures()
  const waiting: WaitingTrial[] = []
  /** The accounts whose trials are in work. */
  const running = new Set<string>()
  const next = () => {
    if (running.size >= most) return
    const free = waiting.filter(({ account }) => !running.has(account))
    // The first of the accounts with the fewest failures: an account without failures never waits for one with
    // failures.
    const least = Math.min(...free.map(({ account }) => failures.countOf(account)))
    const one = free.find(({ account }) => failures.countOf(account) === least)
    if (one === undefined) return
    waiting.splice(waiting.indexOf(one), 1)
    running.add(one.account)
    one.begin()
  }
  const leaveTurn = (account: string) => {
    running.delete(account)
    next()
  }
  const turnOf = (account: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const one = {
        account,
        begin() {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(one), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.push(one)
      next()
    })
  return {
    async run(account, trial, signal) {
      for (;;) {
        const restMs = failures.restMsOf(account)
        if (restMs > restHereMs) throw new NotYet()
        if (restMs > 0) await sleep(restMs, signal)
        signal.throwIfAborted()
        await turnOf(account, signal)
        if (failures.restMsOf(account) <= 0) break
        // Another trial of the account has failed while this one waited for its turn.
        leaveTurn(account)
      }
      const beganMs = performance.now()
      try {
        const isFine = await trial()
        failures.note(account, isFine, beganMs)
        return isFine
      } catch (error) {
        const isNoFailure = error instanceof NotWanted || error instanceof NotYet
        if (!signal.aborted && !isNoFailure) failures.note(account, false, beganMs)
        throw error
      } finally {
        leaveTurn(account)
      }
    },
  }
}

/** The failed trials in a row of each account, and when it may try again. */
function createFailures() {
  const failures = new Map<string, { readonly count: number; readonly againMs: number }>()
  const countOf = (account: string) => failures.get(account)?.count ?? 0
  return {
    countOf,
    restMsOf: (account: string) => (failures.get(account)?.againMs ?? 0) - performance.now(),
    /** A success ends the row. A quick failure costs a short rest. */
    note(account: string, isFine: boolean, beganMs: number): void {
      if (isFine) return void failures.delete(account)
      const count = countOf(account) + 1
      const nowMs = performance.now()
      const restMs = Math.min(REST_MAX_MS, count * (nowMs - beganMs))
      failures.set(account, { count, againMs: nowMs + restMs })
    },
  }
}
