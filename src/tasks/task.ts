// The type of a background task. Each area exports its tasks; processes/ lists them and runs them.
import type { Logger } from '#base/log.ts'

export type Task = {
  /**
   * Milliseconds from one run to the next; absent for a task that runs only when a job is added. A period
   * and no cron expression: periods below a minute are needed, and no task needs a time of day.
   */
  readonly everyMs?: number
  /** A job that fails is retried after e, e², e³ … seconds; after the last attempt the job is dead. */
  readonly attempts: number
  /** A run that takes longer is aborted and has failed. At most RUN_MS_MAX. */
  readonly timeoutMs: number
  /** May run again after any failure or kill, so a second run must do no harm. */
  run(payload: unknown, help: TaskHelp): Promise<void>
}

export type TaskHelp = {
  /** Aborted by the timeout and when the process stops. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Stores how far the run is; shown by `ergon admin tasks`. At most two writes a second. */
  progress(done: number, total: number): void
}

/** Tasks by name, such as `ledger.books`. */
export type Tasks = Readonly<Record<string, Task>>

/** graphile-worker takes a job that is locked for 4 hours as abandoned, and gives the job out again. */
export const RUN_MS_MAX = 3 * 3_600_000
