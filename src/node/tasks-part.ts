// The interface between a product and the process of background work.
import type { TimerClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { StandingDeps } from '#charging/standing.ts'
import type { State } from '#state/connect.ts'
import type { Tasks } from '#tasks/task.ts'

/** With `charging` and `payerOf` for standing charges. */
export type TasksCore = StandingDeps & {
  readonly state: State
  readonly clock: TimerClock
  readonly log: Logger
}

export type TasksPart = {
  readonly tasks?: Tasks
  /** Work that must be a loop, such as a standing charge; ends when the signal aborts, and never rejects. */
  run?(signal: AbortSignal): Promise<void>
}

/** The background half of a product. `Settings` is what its agent half gives (`AgentPart.tasks`). */
export type TasksProduct<Settings = never> = {
  readonly name: string
  open(core: TasksCore, settings: Settings): Promise<TasksPart> | TasksPart
}
