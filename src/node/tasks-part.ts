// The interface between a product and the process of background work.
import type { TimerClock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import type { StandingDeps } from '#charging/standing.ts'
import type { WorkBills } from '#charging/work-bills.ts'
import type { OperationName } from '#contract/operations.ts'
import type { StackParts } from '#resources/stack-part.ts'
import type { State } from '#state/connect.ts'
import type { Tasks } from '#tasks/task.ts'

/** Work here whose CPU accounts pay: the rest of this process is the operator's. */
export type PaidWork = {
  readonly bills: (operation: OperationName) => WorkBills
  /** CPU of this process since the last mark is the operator's. */
  readonly markOwn: () => void
}

/** The core has `charging` and `payerOf` for standing charges. */
export type TasksCore = StandingDeps & {
  /** Opened at the first call. */
  readonly paidWork: () => Promise<PaidWork>
  readonly state: State
  readonly clock: TimerClock
  readonly log: Logger
  /** The secret of the data folder. */
  readonly secret: string
  /** Resources that description files have, by kind. Loaded at the first call. */
  readonly stackParts: () => Promise<StackParts>
  /** The removal of an account from each product, in the order of the list, and then the end of its money. */
  readonly leaves: () => readonly { readonly name: string; readonly leave: Leave }[]
}

/**
 * Removes what a product has of an account whose deletion has begun: a bounded piece of work, which may be repeated
 * after any kill. Resolves with undefined once nothing is left, else with the thing that it waits for, in words.
 */
export type Leave = (account: string, signal: AbortSignal) => Promise<string | undefined>

export type TasksPart = {
  readonly tasks?: Tasks
  readonly leave?: Leave
  /** The same for the money of the account, once no product has anything of it. */
  readonly settle?: Leave
  /** Work that must be a loop, such as a standing charge; ends when the signal aborts, and never rejects. */
  run?(signal: AbortSignal): Promise<void>
}

/** The background half of a product. `Settings` is what its agent half gives (`AgentPart.tasks`). */
export type TasksProduct<Settings = never> = {
  readonly name: string
  /** True where requests cause its statements in the state, or accounts pay for them. Those of all others are upkeep. */
  readonly isCaused?: true
  open(core: TasksCore, settings: Settings): Promise<TasksPart> | TasksPart
}
