// The background half of the status: the installation's own probe. Old counts and results go, and those of an account that
// is removed.
import { PROBE_DAYS_MAX } from '#contract/status/probe-components.ts'
import type { TasksProduct } from '#node/tasks-part.ts'
import { inBatches } from '#state/in-batches.ts'
import type { Tasks } from '#tasks/task.ts'
import { createProbe, type ProbeSettings } from './probe/probe.ts'

const EVERY_MS = 3_600_000
const TIMEOUT_MS = 60_000
const ATTEMPTS = 3
const BATCH = 5000
/** Components that were not there are looked for this often at least. */
const PROBE_MS_MAX = 60_000
const PROBE_TIMEOUT_MS = 600_000

export const STATUS_TASKS: TasksProduct<ProbeSettings> = {
  name: 'status',
  open: ({ state, clock }, settings) => ({
    async leave(account) {
      await state.query('select leave_error_rates($1)', [account])
      return undefined
    },
    tasks: {
      'status.upkeep': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        async run(_, { signal }) {
          await inBatches(state, 'error_rates_upkeep($1)', [BATCH], signal)
          await inBatches(state, 'probes_upkeep($1, $2)', [PROBE_DAYS_MAX, BATCH], signal)
        },
      },
      ...(settings.everyS > 0 &&
        probeTask(settings.everyS, createProbe({ state, clock, settings }))),
    },
  }),
}

const probeTask = (everyS: number, probe: (signal: AbortSignal) => Promise<void>): Tasks => ({
  'status.probe': {
    everyMs: Math.min(everyS * 1000, PROBE_MS_MAX),
    attempts: ATTEMPTS,
    timeoutMs: PROBE_TIMEOUT_MS,
    run: async (_, { signal }) => await probe(signal),
  },
})
