// The background work of payments: asking the processors for what webhooks did not bring, the ends of holds, and automatic
// top-ups.
import type { TasksCore, TasksPart, TasksProduct } from '#node/tasks-part.ts'
import type { PaymentAdapter } from './adapter.ts'
import { endHolds } from './end-holds.ts'
import { reconcilePayments } from './reconcile.ts'
import { openAdapters, type PaymentsSettings } from './settings.ts'
import { startPayment } from './start-payment.ts'

const MINUTE_MS = 60_000
const AUTOMATIC_EVERY_MS = 5000
const LIMITS = { attempts: 5, timeoutMs: 120_000 }
/** Automatic top-ups of a run. */
const BATCH = 20

export const PAYMENTS_TASKS: TasksProduct<PaymentsSettings> = { name: 'payments', open }

function open({ state, log }: TasksCore, settings: PaymentsSettings): TasksPart {
  const adapters = openAdapters(settings)
  if (adapters.length === 0) return {}
  const forEach = async (work: (adapter: PaymentAdapter) => Promise<void>): Promise<void> => {
    for (const adapter of adapters) await work(adapter)
  }
  return {
    tasks: {
      'payments.reconcile': {
        ...LIMITS,
        everyMs: MINUTE_MS,
        run: (_, { signal }) =>
          forEach((adapter) => reconcilePayments({ state, log, adapter }, signal)),
      },
      'payments.holds': {
        ...LIMITS,
        everyMs: MINUTE_MS,
        run: () => forEach((adapter) => endHolds(state, adapter)),
      },
      'payments.automatic': {
        ...LIMITS,
        everyMs: AUTOMATIC_EVERY_MS,
        run: () => forEach((adapter) => topUpAutomatically(state, adapter)),
      },
    },
  }
}

async function topUpAutomatically(
  state: TasksCore['state'],
  adapter: PaymentAdapter,
): Promise<void> {
  const { rows } = await state.query<{ id: string }>('select begin_automatic($1, $2, $3) as id', [
    adapter.name,
    adapter.env,
    BATCH,
  ])
  // Where a call fails, payments.reconcile makes it again.
  for (const { id } of rows) await startPayment(state, adapter, id)
}
