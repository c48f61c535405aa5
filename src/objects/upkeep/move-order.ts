// What the operator has asked the mover for and how far it is, kept in the state: the command that asked may
// go, and the cell that moves may be killed.
import { randomUUID } from 'node:crypto'
import type { Queryable } from '#state/connect.ts'

export type MoveOrder = {
  readonly run: string
  readonly to: string
  readonly state: 'moving' | 'done' | 'stopped'
  /** Blobs, and their bytes. */
  readonly moved: number
  readonly bytes: number
  /** How far the pass over all blobs is: their ids are random, so this is a share of them. */
  readonly permille: number
  /** Blobs that the last pass could not move because their bytes are not what was written. */
  readonly damagedCount: number
  readonly damaged: readonly DamagedBlob[]
  /** Why nothing moves at the moment. */
  readonly failure: string | null
}
export type DamagedBlob = { readonly id: string; readonly location: string; readonly found: string }

const TASK = 'move'

/** The storage cell's page that makes it look for an order. */
export const MOVE_PAGE = '/move'

/** The order, or undefined where there never was one. */
export async function loadMove(state: Queryable): Promise<MoveOrder | undefined> {
  const { rows } = await state.query<{ place: MoveOrder }>(
    'select place from storage_upkeep where task = $1',
    [TASK],
  )
  return rows[0]?.place
}

/** Orders a move; one to the same place that goes on already is that one. */
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

/** Says how far it is. False when it was stopped or another was ordered: then nothing is changed. */
export async function saveMove(state: Queryable, order: MoveOrder): Promise<boolean> {
  const { rowCount } = await state.query(
    `update storage_upkeep set place = $2, at = now()
     where task = $1 and place ->> 'run' = $3 and place ->> 'state' = 'moving'`,
    [TASK, JSON.stringify(order), order.run],
  )
  return rowCount > 0
}

/** Stops what moves; what was moved stays moved. False when nothing did. */
export async function stopMove(state: Queryable): Promise<boolean> {
  const { rowCount } = await state.query(
    `update storage_upkeep set place = place || '{"state": "stopped"}', at = now()
     where task = $1 and place ->> 'state' = 'moving'`,
    [TASK],
  )
  return rowCount > 0
}
