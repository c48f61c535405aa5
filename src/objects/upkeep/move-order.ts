// The operator's move order and its progress, in the state: the ordering command may end, and the moving cell may be
// killed.
import { randomUUID } from 'node:crypto'
import type { Queryable } from '#state/connect.ts'

/** The background task that moves. */
export const MOVE_TASK = 'objects.move'

export type MoveOrder = {
  readonly run: string
  readonly to: string
  readonly state: 'moving' | 'done' | 'stopped'
  /** Blobs, and their bytes. */
  readonly moved: number
  readonly bytes: number
  /** The share of the pass that is done: ids are random, so an id is a share. */
  readonly permille: number
  /** Blobs that the last pass did not move because they are damaged. */
  readonly damagedCount: number
  readonly damaged: readonly DamagedBlob[]
  /** The reason why nothing moves at the moment. */
  readonly failure: string | null
}
export type DamagedBlob = { readonly id: string; readonly location: string; readonly found: string }

const TASK = 'move'

/** The order; undefined when there never was one. */
export async function loadMove(state: Queryable): Promise<MoveOrder | undefined> {
  const { rows } = await state.query<{ place: MoveOrder }>(
    'select place from storage_upkeep where task = $1',
    [TASK],
  )
  return rows[0]?.place
}

/** Orders a move; a running order to the same store is kept. */
export async function beginMove(state: Queryable, to: string): Promise<MoveOrder> {
  const order: MoveOrder = {
    run: randomUUID(),
    to,
    state: 'moving',
    moved: 0,
    bytes: 0,
    permille: 0,
    damagedCount: 0,
    damaged: [],
    failure: null,
  }
  const { rows } = await state.query<{ place: MoveOrder }>(
    `insert into storage_upkeep as u (task, place) values ($1, $2)
     on conflict (task) do update set at = now(),
       place = case when u.place ->> 'state' = 'moving' and u.place ->> 'to' = excluded.place ->> 'to'
         then u.place else excluded.place end
     returning place`,
    [TASK, JSON.stringify(order)],
  )
  return rows[0]?.place ?? order
}

/** Stores the progress. False, without a change, when the order was stopped or replaced. */
export async function saveMove(state: Queryable, order: MoveOrder): Promise<boolean> {
  const { rowCount } = await state.query(
    `update storage_upkeep set place = $2, at = now()
     where task = $1 and place ->> 'run' = $3 and place ->> 'state' = 'moving'`,
    [TASK, JSON.stringify(order), order.run],
  )
  return rowCount > 0
}

/** Stops the order; moved blobs stay moved. False when none was running. */
export async function stopMove(state: Queryable): Promise<boolean> {
  const { rowCount } = await state.query(
    `update storage_upkeep set place = place || '{"state": "stopped"}', at = now()
     where task = $1 and place ->> 'state' = 'moving'`,
    [TASK],
  )
  return rowCount > 0
}
