// A database as the API shows it, and its state in a word.
import type { ReplyOf } from '#console/client/operations.ts'
import type { Tone } from '#console/parts/state-word.tsx'

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
