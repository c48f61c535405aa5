// Runs functions for new objects and at times: each run at least once, with further tries after failures, and no more of a
// function at once than it takes. Runs that the agent's end cuts off are due again; those that the state's end meets go on.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import {
  FUNCTION_FAILURES_MAX,
  FUNCTION_RUNS_AT_ONCE,
} from '#contract/functions/function-limits.ts'
import type { ResourceLine } from '#resources/keep-logs.ts'
import { isStateAway, type State } from '#state/connect.ts'
import { attempt, type AttemptDeps, type DueRun, type RunOutcome } from './attempt.ts'
import { lookAtSchedules } from './schedules.ts'

export type RunsDeps = AttemptDeps & {
  readonly state: State
  readonly log: Logger
  readonly line: (line: ResourceLine) => void
  /** In place of AGAIN_MS and RECORD_MS after a query that failed: tests are short. */
  readonly againMs?: number
}

/** New objects that one pass takes over. */
const TAKEN_MAX = 500
/** The waits after each failure; after one more the run is dead. */
const RETRY_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000]
/** A function that may not run is asked again after this time. */
const HELD_MS = 30_000
/** A missed notification waits for this. */
const AGAIN_MS = 15_000
/** The end of a run is recorded again after this time while the state is away, for an hour at least. */
const RECORD_MS = 2000
const RECORDS_MAX = 1800

/** Works until the signal aborts. Never rejects. */
export async function runFunctions(deps: RunsDeps, signal: AbortSignal): Promise<void> {
  // They go on where a query fails: without them the runs would begin again beside themselves.
  const work = createWork(deps, signal)
  while (!signal.aborted)
    await follow(deps, work, signal).catch(async (error: unknown) => {
      if (signal.aborted) return
      deps.log.warn('Runs of functions wait', { error: messageOf(error) })
      await sleep(deps.againMs ?? AGAIN_MS, signal).catch(() => undefined)
    })
  await Promise.all(work.running.values())
}

/** The runs in work, by their ids. The end of each, and `wake`, end the rest. */
function createWork(deps: RunsDeps, signal: AbortSignal) {
  const running = new Map<string, Promise<void>>()
  let waiting = new AbortController()
  const wake = () => waiting.abort()
  const make = async (run: DueRun) => {
    await settle(deps, run, signal).catch((error: unknown) => {
      if (!signal.aborted)
        deps.log.warn('A run is repeated', { id: run.id, error: messageOf(error) })
    })
    running.delete(run.id)
    wake()
  }
  return {
    running,
    begin: (run: DueRun) => void running.set(run.id, make(run)),
    wake,
    /** Ends of runs from now on end the next rest. */
    look: () => void (waiting = new AbortController()),
    rest: (ms: number) =>
      sleep(ms, AbortSignal.any([signal, waiting.signal])).catch(() => undefined),
  }
}

async function follow(
  { state }: RunsDeps,
  { running, begin, wake, look, rest }: ReturnType<typeof createWork>,
  signal: AbortSignal,
): Promise<void> {
  await using _ = await state.listen('ergon_followed', wake)
  await using __ = await state.listen('ergon_resources', (kind) => {
    if (kind === 'function') wake()
  })
  while (!signal.aborted) {
    look()
    const { rows: taken } = await state.query<{ count: string }>(
      'select take_followed($1) as count',
      [TAKEN_MAX],
    )
    await lookAtSchedules(state)
    const { account, node } = FUNCTION_RUNS_AT_ONCE
    const given = [account, node - running.size, [...running.keys()]]
    const due = await state.query<DueRun>('select * from function_runs_due($1, $2, $3)', given)
    for (const run of due.rows) begin(run)
    if (Number(taken[0]?.count) === TAKEN_MAX) continue
    const next = await state.query<{ ms: number | null }>(
      'select function_runs_next_ms($1, $2) as ms',
      [account, [...running.keys()]],
    )
    await rest(Math.min(AGAIN_MS, Math.max(next.rows[0]?.ms ?? AGAIN_MS, REST_MIN_MS)))
  }
}

/** Runs that are due and have no place are not looked for without end. */
const REST_MIN_MS = 250

/** Makes an attempt, and records it. Rejects where that failed: the run stays due. */
async function settle(deps: RunsDeps, run: DueRun, signal: AbortSignal): Promise<void> {
  const made = await attempt(run, deps, signal)
  if (made.outcome === 'failed') tell(deps, run, made)
  const { id, attempts } = run
  const results = JSON.stringify([{ id, attempts, ...made, delay_ms: delayOf(run, made) }])
  await recorded(deps, results, signal)
}

/** A function was paid for its work, and may have changed data: the state is waited for before a run is repeated. */
async function recorded(
  { state, againMs = RECORD_MS }: RunsDeps,
  results: string,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return void (await state.query('select settle_function_runs($1, $2)', [
        results,
        FUNCTION_FAILURES_MAX,
      ]))
    } catch (error) {
      if (!isStateAway(error) || tries === RECORDS_MAX) throw error
      await sleep(againMs, signal)
    }
}

const delayOf = ({ attempts }: DueRun, { outcome }: RunOutcome): number | null =>
  outcome === 'waits' ? HELD_MS : (RETRY_MS[attempts] ?? null)

function tell({ line }: RunsDeps, run: DueRun, { request, error }: RunOutcome): void {
  const again = run.attempts < RETRY_MS.length ? 'it is tried again' : 'it is not tried again'
  const text = `The run for ${run.event} failed: ${error}; ${again}`
  line({ resource: run.function, source: request ?? null, level: 'error', text, isOwn: true })
}
