// A database as the API shows it, its state in a word, and the minutes of the day in which its server ran.
import type { ReplyOf } from '../../client/operations.ts'
import type { DaySpan } from '../../parts/day-band.tsx'
import type { Tone } from '../../parts/state-word.tsx'

export type Database = ReplyOf<'GET /v1/databases/:database'>
export type DatabaseEnergy = ReplyOf<'GET /v1/databases/:database/energy'>

type State = { readonly tone: Tone; readonly word: string }
const STATES: Readonly<Record<Database['status'], State>> = {
  pending: { tone: 'muted', word: 'Being made' },
  deploying: { tone: 'muted', word: 'Being made' },
  deployed: { tone: 'ok', word: 'Ready' },
  suspended: { tone: 'warn', word: 'Suspended' },
  failed: { tone: 'bad', word: 'Failed' },
  deleted: { tone: 'muted', word: 'Deleted' },
}

export function stateOf({ status, full, restore }: Database): State {
  if (restore !== null) return { tone: 'muted', word: 'Being restored' }
  if (full && status === 'deployed') return { tone: 'bad', word: 'Full, read-only' }
  return STATES[status]
}

/** True while the state changes by itself. */
export const isChanging = ({ status, restore }: Database): boolean =>
  status === 'pending' || status === 'deploying' || restore !== null

const MINUTE_MS = 60_000

/** Adjoining minutes with energy of the server, as spans of the day that begins at `from`. */
export function awakeSpans({ from, data }: Pick<DatabaseEnergy, 'from' | 'data'>): DaySpan[] {
  const dayMs = new Date(from).getTime()
  const spans: DaySpan[] = []
  for (const { at, server_j } of data) {
    if (server_j === 0) continue
    const fromMs = new Date(at).getTime() - dayMs
    const toMs = fromMs + MINUTE_MS
    const last = spans.at(-1)
    if (last?.toMs === fromMs) spans[spans.length - 1] = { ...last, toMs }
    else spans.push({ fromMs, toMs })
  }
  return spans
}

export const lengthOf = (spans: readonly DaySpan[]): number =>
  spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
