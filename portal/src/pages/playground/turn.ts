// An exchange of the playground: what was asked, the answer, and its change by events of the stream. Pure.
import type { ChatEvent } from '#console/chat/stream.ts'
import type { How } from '#console/figures/known.ts'

/** Joules after so many tokens, for the drawing. */
export type Point = { readonly tokens: number; readonly nj: bigint; readonly atMs: number }
export type Turn = {
  readonly question: string
  readonly text: string
  readonly model: string
  readonly reason: string | undefined
  readonly status: 'asking' | 'loading' | 'answering' | 'done' | 'stopped' | 'failed'
  readonly error: unknown
  readonly receiptId: string | undefined
  readonly tokens: number
  readonly tokensMax: number
  readonly startedMs: number
  readonly endedMs: number | undefined
  /** So far, or in the end. */
  readonly nj: bigint | undefined
  /** True: `nj` is what is billed. */
  readonly isWhole: boolean
  readonly pg: bigint | undefined
  readonly ceilingNj: bigint | undefined
  readonly points: readonly Point[]
}
/** Of the answer, as the ledger has it. */
export type TurnCharge = { readonly how: How; readonly nj: bigint; readonly pusd: bigint }

export const asked = (question: string, tokensMax: number, nowMs: number): Turn => ({
  question,
  text: '',
  model: '',
  reason: undefined,
  status: 'asking',
  error: undefined,
  receiptId: undefined,
  tokens: 0,
  tokensMax,
  startedMs: nowMs,
  endedMs: undefined,
  nj: undefined,
  isWhole: false,
  pg: undefined,
  ceilingNj: undefined,
  points: [],
})

export function afterEvent(turn: Turn, event: ChatEvent, nowMs: number): Turn {
  switch (event.type) {
    case 'begun':
      return {
        ...turn,
        status: 'answering',
        // The time in which the model loaded is none of its answer.
        startedMs: turn.status === 'loading' ? nowMs : turn.startedMs,
        receiptId: event.receiptId === '' ? undefined : event.receiptId,
        ceilingNj: event.ceilingNj,
        reason: event.reason,
      }
    case 'text':
      return { ...turn, text: turn.text + event.text, model: event.model, tokens: turn.tokens + 1 }
    case 'energy':
      return {
        ...turn,
        nj: event.nj,
        ceilingNj: event.ceilingNj,
        points: [...turn.points, { tokens: turn.tokens, nj: event.nj, atMs: nowMs }],
      }
    case 'ended':
      return {
        ...turn,
        nj: event.nj,
        isWhole: true,
        pg: event.pg,
        tokens: event.tokens,
        points: [...turn.points, { tokens: event.tokens, nj: event.nj, atMs: nowMs }],
      }
  }
}

/** An answer that was cut off costs more than the stream told: work goes on for a moment, and its end is billed too. */
export function billed(turn: Turn, charge: TurnCharge | undefined): Turn {
  const { endedMs: atMs, tokens, isWhole, points } = turn
  if (charge === undefined || atMs === undefined || isWhole) return turn
  const { nj } = charge
  return { ...turn, nj, isWhole: true, points: [...points, { tokens, nj, atMs }] }
}

/** Its end is still to come. */
export const isRunning = ({ endedMs }: Turn): boolean => endedMs === undefined

/** The answer has ended, and its charge is not known yet. */
export const isAwaited = ({ endedMs, isWhole, receiptId }: Turn): boolean =>
  endedMs !== undefined && !isWhole && receiptId !== undefined

/** Energy a second of the newest two points; undefined while there is one. */
export function rateOf({ points }: Turn): bigint | undefined {
  const [before, last] = points.slice(-2)
  if (before === undefined || last === undefined || last.atMs <= before.atMs) return undefined
  return ((last.nj - before.nj) * 1000n) / BigInt(Math.round(last.atMs - before.atMs))
}
