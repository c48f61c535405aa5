// A gateway's learned costs of its models, kept in the state over restarts: read at its start, written each minute
// where something was learned, and when it stops. The next write makes up for a failed one; nothing waits for it.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { createLearned, type Learned, type SavedCosts } from '#inference/learned.ts'
import type { State } from '#state/connect.ts'

const WRITE_MS = 60_000

type Deps = {
  readonly state: Pick<State, 'query'>
  readonly log: Logger
  /** Name of the gateway: each has its own rows, as each learns from its own charges. */
  readonly process: string
  readonly writeMs?: number
}

export async function keepLearned(
  deps: Deps,
): Promise<{ readonly learned: Learned; close(): Promise<void> }> {
  const learned = createLearned(await load(deps))
  const write = async () => {
    const changes = learned.changes()
    if (changes.length > 0) await save(deps, changes)
  }
  let running: Promise<void> | undefined
  const turn = () => {
    running ??= write()
      .catch((error: unknown) =>
        deps.log.warn('What was learned of costs could not be written', {
          error: messageOf(error),
        }),
      )
      .finally(() => (running = undefined))
    return running
  }
  const timer = setInterval(turn, deps.writeMs ?? WRITE_MS)
  return {
    learned,
    async close() {
      clearInterval(timer)
      await running
      await turn()
    },
  }
}

/** A new gateway begins with the newest costs that another one has learned. */
async function load({ state, process }: Deps): Promise<SavedCosts[]> {
  const { rows } = await state.query<{ model: string; costs: Omit<SavedCosts, 'model'> }>(
    `select distinct on (model) model, costs from learned_costs
     order by model, process = $1 desc, updated_at desc`,
    [process],
  )
  return rows.map(({ model, costs }) => ({ model, ...costs }))
}

async function save({ state, process }: Deps, changes: readonly SavedCosts[]): Promise<void> {
  const rows = changes.map(({ model, ...costs }) => ({ model, costs }))
  // One that was removed meanwhile has no row in models, and is not kept.
  await state.query(
    `insert into learned_costs (process, model, costs)
     select $1, m.id, given.costs
     from jsonb_to_recordset($2::jsonb) as given (model text, costs jsonb)
     join models m on m.id = given.model
     on conflict (process, model) do update set costs = excluded.costs, updated_at = now()`,
    [process, JSON.stringify(rows)],
  )
}
