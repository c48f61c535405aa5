// A data folder belongs to one state. Sessions of every state have names such as gw-1.1, so another state would take
// the journals of this folder for posted, and they would be dropped. A start with another state is refused, before
// that state is migrated and before a journal is read.
import { fault } from '#contract/errors.ts'
import type { State } from '#state/connect.ts'
import type { DataFolder } from './data-folder.ts'

/** Asked before migrating. Throws `state_mismatch`. */
export async function demandSameState(state: State, data: DataFolder): Promise<void> {
  if (data.stateId === undefined) return
  const found = await idOf(state)
  if (found === data.stateId) return
  throw fault(
    'state_mismatch',
    `Could not start: ${data.path} belongs to the state ${data.stateId}, and the database ` +
      `${found === undefined ? 'has none' : `has the state ${found}`}: correct DATABASE_URL`,
  )
}

/** Asked after migrating: the first start writes down which state the data folder belongs to. */
export async function rememberState(state: State, data: DataFolder): Promise<void> {
  const found = await idOf(state)
  if (data.stateId === undefined && found !== undefined) data.rememberState(found)
}

async function idOf(state: State): Promise<string | undefined> {
  const known = await state.query("select from pg_class where oid = to_regclass('state_identity')")
  if (known.rowCount === 0) return undefined
  const { rows } = await state.query<{ id: string }>('select id from state_identity')
  return rows[0]?.id
}
