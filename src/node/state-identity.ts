// A data folder belongs to one state. With another the journals in it would be taken for posted, since
// sessions of every state are called gw-1.1 and so on, and would be dropped; so such a start is refused,
// before the other state is migrated and before a journal is read.
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
