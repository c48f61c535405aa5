// The toy's background work: a task that sums the counts, and a standing charge of each counter.
import { nj } from '#base/units.ts'
import {
  chargeAgain,
  standing,
  type StandingDue,
  type StandingProduct,
} from '#charging/standing.ts'
import type { TasksCore, TasksProduct } from '#node/tasks-part.ts'

const EVERY_MS = 1000
/** A counter is charged this energy each time. */
const COUNTER_NJ = nj(1_000_000n)
const COUNTERS: StandingProduct = {
  operation: 'toy.standing',
  meter: 'toy',
  known: { method: 'model', bandPct: 50 },
  name: 'counters of the toy',
}

export const TOY_TASKS: TasksProduct = {
  name: 'toy',
  open: (core) => ({
    tasks: {
      'toy.total': {
        everyMs: EVERY_MS,
        attempts: 3,
        timeoutMs: 10_000,
        async run(_, { progress }) {
          await core.state.query(
            'insert into toy_totals select ledger_now(), coalesce(sum(count), 0) from toy_counts',
          )
          progress(1, 1)
        },
      },
    },
    async leave(account) {
      await core.state.query('delete from toy_counts where account = $1', [account])
      return undefined
    },
    run: (signal) =>
      chargeAgain(core, COUNTERS, {
        charge: () => standing(core, COUNTERS, duesOf(core)),
        restMs: EVERY_MS,
        signal,
      }),
  }),
}

async function* duesOf({ state }: TasksCore): AsyncGenerator<readonly StandingDue[]> {
  const { rows } =
    await state.query<Record<'account' | 'from_ms' | 'to_ms', string>>('select * from toy_due()')
  yield rows.map((row) => ({
    account: row.account,
    resource: 'toy:counter',
    energyNj: COUNTER_NJ,
    fromMs: Number(row.from_ms),
    toMs: Number(row.to_ms),
  }))
}
