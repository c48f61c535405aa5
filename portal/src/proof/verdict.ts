// The request of the page to the worker, and its answer.
import type { Charge } from '#contract/ledger/charge.ts'
import type { SavedHead } from './pins.ts'

export type Asked = {
  /** The id of the receipt or of its request. */
  readonly id: string
  /** The text of a `.tlog-proof` file. */
  readonly receipt: string
  /** The pinned keys and those that the service tells now, as published. */
  readonly pinned: string
  readonly published: string
  /** The newest head of each log that this browser has seen. */
  readonly heads: readonly SavedHead[]
}

export type Verdict = {
  /** True when every check holds. One that could not be made does not hold. */
  readonly isSound: boolean
  /** The first check that failed. */
  readonly failed: { readonly check: string; readonly why: string } | undefined
  /**
   * Why the log was not to be read, in words. With a charge, its head could not be compared with the seen one. Without a
   * charge, the key of the log could not be checked, and so nothing else.
   */
  readonly uncompared: string | undefined
  /** Logs that are trusted from now on. */
  readonly pinned: readonly string[]
  /** Why the key of this receipt's log is not trusted, where the service tells it. */
  readonly refusedKey: string | undefined
  readonly charge: Charge | undefined
  readonly accountSeq: string | undefined
  readonly leafHash: string | undefined
  readonly entry: number | undefined
  /** The signed head of the receipt, and the size of the one that was seen before. */
  readonly head: SavedHead | undefined
  readonly seenSize: number | undefined
  /** Hashes of the proof. */
  readonly steps: number | undefined
  readonly tookMs: number
}
