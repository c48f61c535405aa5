// The progress of a task, in the state: the next process goes on from there.
import type { Queryable } from '#state/connect.ts'

/** The saved progress; undefined at the beginning. */
export async function loadPlace(state: Queryable, task: string): Promise<string | undefined> {
  const { rows } = await state.query<{ place: string | null }>(
    "select place #>> '{}' as place from storage_upkeep where task = $1",
    [task],
  )
  return rows[0]?.place ?? undefined
}

/** Saves the progress; undefined starts over. */
export async function savePlace(
  state: Queryable,
  task: string,
  place: string | undefined,
): Promise<void> {
  await state.query(
    `insert into storage_upkeep (task, place) values ($1, to_jsonb($2::text))
     on conflict (task) do update set place = excluded.place, at = now()`,
    [task, place ?? null],
  )
}

/** Removes a task that comes to no second round. */
export const forgetPlace = async (state: Queryable, task: string): Promise<void> =>
  void (await state.query('delete from storage_upkeep where task = $1', [task]))
