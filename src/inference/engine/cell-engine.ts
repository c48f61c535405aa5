// The interface of a model, of either kind, for the server of its cell.
import type { BodyFields } from './fields.ts'
import type { StepClock } from './step-clock.ts'
import type { StepWatch } from './step-watch.ts'
import type { CellUsage } from './usage.ts'

/** One request while it is worked on. */
export type CellWork = {
  readonly usage: CellUsage
  /** The account whose turn it is in the queue. */
  readonly payer: string
  /** Aborts when the caller is gone or the cell stops. */
  readonly signal: AbortSignal
}

export type CellAnswer = {
  readonly contentType: string
  /** Whole frames (an SSE event or comment, a line of NDJSON), each with the usage so far. */
  readonly frames: AsyncGenerator<string, void, void>
}

export type CellHandler = (body: BodyFields, work: CellWork) => Promise<CellAnswer>

export type CellEngine = {
  readonly clock: StepClock
  /** Of an engine whose steps may get stuck. */
  readonly watch?: Pick<StepWatch, 'stuck'>
  /** Handlers by path; what is not here is not served by this kind of model. */
  readonly routes: Readonly<Record<string, CellHandler>>
  /** Its entry in the model list. */
  readonly card: Readonly<Record<string, unknown>>
}
