// The part that all kinds of resources have.
import type { Queryable } from '#state/connect.ts'

export type Resource = {
  readonly id: string
  readonly account: string
  readonly name: string
}

/** Why the service holds a resource suspended; null: it does not. */
export type HeldFor = 'budget' | 'balance' | 'suspended' | 'deleting' | null

/** Why the service holds one suspended now. */
export async function heldOf(state: Queryable, id: string): Promise<HeldFor> {
  const { rows } = await state.query<{ held: HeldFor }>(
    'select held from resources where id = $1',
    [id],
  )
  return rows[0]?.held ?? null
}
