// A database as the API shows it, and its state in a word.
import type { ReplyOf } from '#console/client/operations.ts'
import {
  isResourceChanging,
  RESOURCE_STATES,
  type ResourceState,
} from '#console/parts/resources/resource-state.ts'

export type Database = ReplyOf<'GET /v1/databases/:database'>
export type Role = ReplyOf<'GET /v1/databases/:database/roles'>['data'][number]
export type Backup = ReplyOf<'GET /v1/databases/:database/backups'>['data'][number]
export type DatabaseEnergy = ReplyOf<'GET /v1/databases/:database/energy'>

export function stateOf({ status, full, restore }: Database): ResourceState {
  if (restore !== null) return { tone: 'muted', word: 'Being restored' }
  if (full && status === 'deployed') return { tone: 'bad', word: 'Full, read-only' }
  return RESOURCE_STATES[status]
}

/** True while the state changes by itself. */
export const isChanging = ({ status, restore }: Database): boolean =>
  isResourceChanging(status) || restore !== null

export const isBackupChanging = ({ status }: Backup): boolean =>
  status === 'wanted' || status === 'running'
