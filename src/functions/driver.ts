// The interface of drivers, which run functions: cells of this machine today, an engine for containers later. A driver gets
// the code and gives an address; paths and process ids stay inside.
import type { Instance } from '#resources/instances.ts'

export type FunctionSpec = {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly version: number
  readonly runtime: string
  readonly file: string
  readonly source: string
  readonly memoryBytes: number
  readonly timeoutS: number
  readonly env: Readonly<Record<string, string>>
  /** Requests at once; null: as the form of its handler has them. */
  readonly concurrency: number | null
}

/** `ready` rejects with function_failed where the code cannot be loaded. */
export interface RunningFunction extends Instance {
  /** `unix:<path>`, or `http://<host>:<port>`. */
  readonly address: string
  /** The name of its cell. */
  readonly cell: string
  /** Connections are taken already, and wait for the code. */
  readonly isOpen: boolean
  /** Requests that the code takes at once, once it is ready. */
  readonly concurrency: number
  /** Ends the process where its code blocks it; another one follows. Never rejects. */
  unblock(): Promise<void>
}

export interface FunctionDriver {
  /** Holds energy for a start. Rejects where the account cannot pay, or the budget is used up. */
  admit(version: Pick<FunctionSpec, 'id' | 'version' | 'account'>): Promise<void>
  /** Starts a function that is admitted; resolves before it is ready. */
  start(spec: FunctionSpec): Promise<RunningFunction>
}
